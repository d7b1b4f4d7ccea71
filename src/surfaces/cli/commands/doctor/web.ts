import { configuredGroups } from "../../../../config/groups.ts";
import { resolveGroup } from "../../../../config/resolve-group.ts";
import type { Config } from "../../../../config/schema/config.ts";
import { toError } from "../../../../lib/app-error.ts";
import { reachSearch } from "../../../../abilities/web/search/search-web.ts";
import type { CommandContext } from "../../context.ts";
import { type CheckResult, good, warning } from "./check.ts";

const reachMs = 5_000;

/** What groups have of the web, and whether who searches for them can be reached. */
export async function checkWeb(context: CommandContext): Promise<CheckResult[]> {
  const { config } = await context.loadConfig();
  return [checkFetch(config), ...(await checkSearch(config))];
}

function checkFetch(config: Config): CheckResult {
  const groups = configuredGroups(config).map((group) => ({ name: group.name, ...resolveGroup(config, group).web }));
  const some = groups.filter(({ fetch }) => fetch !== "off");
  if (some.length === 0) return good("web", "No group may fetch pages of the web.");
  const empty = some.filter(({ fetch, allow }) => fetch === "allowlist" && allow.length === 0);
  const [first] = empty;
  if (first)
    return warning(
      "web",
      `${first.name} may fetch from an allowlist with nothing in it.`,
      "Name places in web.allow, or set web.fetch to off.",
    );
  const listed = some.map(({ name, fetch }) => `${name} (${fetch})`);
  return good("web", `Pages of the web may be fetched by ${listed.join(", ")}.`);
}

/** It is not asked anything: most want to be paid for each search. */
async function checkSearch({ web: { search } }: Config): Promise<CheckResult[]> {
  if (search === undefined) return [];
  try {
    await reachSearch(search, reachMs);
    return [good("web", `${search.provider} searches the web, and can be reached.`)];
  } catch (error) {
    const detail = `${search.provider}, which is to search the web, cannot be reached: ${toError(error).message}`;
    return [warning("web", detail, "Look at web.search in config.yaml.")];
  }
}
