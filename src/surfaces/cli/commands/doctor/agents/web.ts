import { configuredGroups } from "../../../../../config/configured/groups.ts";
import { resolveGroup } from "../../../../../config/resolve-group.ts";
import type { Config } from "../../../../../config/schema/config.ts";
import { toError } from "../../../../../lib/app-error.ts";
import { reachSearch } from "../../../../../abilities/web/offline.ts";
import type { CommandContext } from "../../../context.ts";
import { type CheckResult, good, warning } from "../check.ts";

const reachMs = 5_000;

/** Checks groups' web access, and whether the search provider is reachable. */
export async function checkWeb(context: CommandContext): Promise<CheckResult[]> {
  const { config } = await context.loadConfig();
  return [checkFetch(config), ...(await checkSearch(config))];
}

function checkFetch(config: Config): CheckResult {
  const groups = configuredGroups(config).map((group) => ({ name: group.name, ...resolveGroup(config, group).web }));
  const some = groups.filter(({ fetch }) => fetch !== "off");
  if (some.length === 0) return good("web", "No group may fetch web pages.");
  const empty = some.filter(({ fetch, allow }) => fetch === "allowlist" && allow.length === 0);
  const [first] = empty;
  if (first)
    return warning(
      "web",
      `${first.name} may fetch from an allowlist, which is empty.`,
      "Add hosts to web.allow, or set web.fetch to off.",
    );
  const listed = some.map(({ name, fetch }) => `${name} (${fetch})`);
  return good("web", `Groups that may fetch web pages: ${listed.join(", ")}.`);
}

/** It is not asked anything: most want to be paid for each search. */
async function checkSearch({ web: { search } }: Config): Promise<CheckResult[]> {
  if (search === undefined) return [];
  try {
    await reachSearch(search, reachMs);
    return [good("web", `${search.provider} searches the web, and is reachable.`)];
  } catch (error) {
    const detail = `Cannot reach the search provider ${search.provider}: ${toError(error).message}`;
    return [warning("web", detail, "Check web.search in config.yaml.")];
  }
}
