import * as z from "zod";

import { below, type SearchProvider } from "./search-provider.ts";

const answer = z.object({
  results: z.array(z.object({ title: z.string().nullish(), url: z.string(), content: z.string().nullish() })),
});

/** An instance of the operator's, with `json` among its `search.formats`. */
export const searxng: SearchProvider = {
  baseUrl: undefined,
  most: 20,
  request: (query, _count, { baseUrl, apiKey }) => ({
    url: below(baseUrl, "/search", { q: query, format: "json" }),
    method: "GET",
    headers: { accept: "application/json", ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
  }),
  results: (given) =>
    answer.parse(given).results.map(({ title, url, content }) => ({ title: title ?? "", url, snippet: content ?? "" })),
};
