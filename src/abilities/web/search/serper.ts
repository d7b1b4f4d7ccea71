import * as z from "zod";

import { below, postJson, type SearchProvider } from "./search-provider.ts";

const answer = z.object({
  organic: z.array(z.object({ title: z.string(), link: z.string(), snippet: z.string().optional() })).default([]),
});

/** Serper, which asks Google. */
export const serper: SearchProvider = {
  baseUrl: "https://google.serper.dev",
  most: 20,
  request: (query, count, { baseUrl, apiKey = "" }) =>
    postJson(below(baseUrl, "/search"), { "x-api-key": apiKey }, { q: query, num: count }),
  results: (given) =>
    answer.parse(given).organic.map(({ title, link, snippet = "" }) => ({ title, url: link, snippet })),
};
