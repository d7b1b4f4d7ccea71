import type { GroupWeb } from "../../domain/settings/web.ts";
import { entryOf } from "./entry.ts";
import type { Config } from "../schema/config.ts";

/** What this group has of the web: its own settings, and those for everybody for what it leaves out. */
export function webOf({ groups, web }: Pick<Config, "groups" | "web">, name: string): GroupWeb {
  const own = entryOf({ groups }, name)?.web;
  const { fetch, allow, search, fetchesPerDay, searchesPerDay } = web;
  return {
    fetch: own?.fetch ?? fetch,
    allow: own?.allow ?? allow,
    search: own?.fetch === "off" ? undefined : search,
    fetchesPerDay,
    searchesPerDay,
  };
}
