import type { SearchProviderName } from "../../../domain/settings/web.ts";
import { brave } from "./brave.ts";
import { duckduckgo } from "./duckduckgo.ts";
import { exa } from "./exa.ts";
import type { SearchProvider } from "./search-provider.ts";
import { searxng } from "./searxng.ts";
import { serper } from "./serper.ts";
import { tavily } from "./tavily.ts";

/** Everybody who can be asked to search. */
export const searchCatalog: Readonly<Record<SearchProviderName, SearchProvider>> = {
  searxng,
  brave,
  tavily,
  exa,
  serper,
  duckduckgo,
};
