import type { GroupWeb } from "../../domain/settings/web.ts";
import { entryOf } from "./entry.ts";
import type { Config } from "../schema/config.ts";

/** Web access of this group: its settings, with the general ones for missing values. */
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
