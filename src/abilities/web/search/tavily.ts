import * as z from "zod";

import { below, postJson, type SearchProvider } from "./search-provider.ts";

const answer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
});

/** Tavily. */
export const tavily: SearchProvider = {
  baseUrl: "https://api.tavily.com",
  most: 20,
  request: (query, count, { baseUrl, apiKey = "" }) =>
    postJson(below(baseUrl, "/search"), { authorization: `Bearer ${apiKey}` }, { query, max_results: count }),
  results: (given) =>
    answer.parse(given).results.map(({ title, url, content }) => ({ title, url, snippet: content ?? "" })),
};
