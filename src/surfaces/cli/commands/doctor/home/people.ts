import { stat } from "node:fs/promises";

import type { CommandContext } from "../../../context.ts";
import type { CheckResult } from "../check.ts";
import { good, warning } from "../check.ts";

/** Checks that settings of people apply to all their ids. */
export async function checkPeopleIds(context: CommandContext): Promise<CheckResult> {
  const { paths } = context;
  const loaded = await context.loadConfig();
  const isThere = (await stat(paths.database).catch(() => undefined)) !== undefined;
  const { readHalfKnownKeys } = await import("../../../stopped-host.ts");
  const keys = isThere ? await readHalfKnownKeys(paths, loaded) : [];
  if (keys.length === 0) return good("people", "All relevant ids of people in config.yaml are known.");
  const some = keys.slice(0, 5).join(", ");
  const more = keys.length > 5 ? ` and ${keys.length - 5} more` : "";
  return warning(
    "people",
    `No other id of ${some}${more} is known yet: settings for them apply only to messages with this id.`,
    "Connect the channel, which asks for it. If this remains, the number has no account, or add the id shown by /whoami to config.yaml.",
  );
}
