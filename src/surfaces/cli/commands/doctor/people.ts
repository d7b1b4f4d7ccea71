import { stat } from "node:fs/promises";

import type { CommandContext } from "../../context.ts";
import type { CheckResult } from "./check.ts";
import { good, warning } from "./check.ts";

/** Does what the configuration says of somebody hold, whichever of their ids a message comes with? */
export async function checkPeople(context: CommandContext): Promise<CheckResult> {
  const { paths } = context;
  const loaded = await context.loadConfig();
  const isThere = (await stat(paths.database).catch(() => undefined)) !== undefined;
  const keys = isThere ? await context.hostFunctions.readHalfKnownKeys(paths, loaded) : [];
  if (keys.length === 0) return good("people", "Whom config.yaml names is known by all ids that matter.");
  const some = keys.slice(0, 5).join(", ");
  const more = keys.length > 5 ? ` and ${keys.length - 5} more` : "";
  return warning(
    "people",
    `No other id of ${some}${more} is known yet: what config.yaml says of them holds only for messages that come with this one.`,
    "Connect the channel: it asks. If that stays, there is no account with this number, or write the id that /whoami says there into config.yaml as well.",
  );
}
