import { below, type SearchProvider } from "./search-provider.ts";

/** DuckDuckGo has no programs' interface for its results: what comes is a page, and the agent reads it. */
export const duckduckgo: SearchProvider = {
  baseUrl: "https://html.duckduckgo.com",
  most: 20,
  request: (query, _count, { baseUrl }) => ({
    url: below(baseUrl, "/html/", { q: query }),
    method: "GET",
    headers: { accept: "text/html" },
  }),
};
