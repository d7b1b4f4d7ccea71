import * as z from "zod";

import { below, type SearchProvider } from "./search-provider.ts";

const answer = z.object({
  web: z
    .object({
      results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().optional() })),
    })
    .optional(),
});

/** Brave Search. */
export const brave: SearchProvider = {
  baseUrl: "https://api.search.brave.com",
  most: 20,
  request: (query, count, { baseUrl, apiKey = "" }) => ({
    url: below(baseUrl, "/res/v1/web/search", { q: query, count: String(count), text_decorations: "false" }),
    method: "GET",
    headers: { accept: "application/json", "x-subscription-token": apiKey },
  }),
  results: (given) =>
    (answer.parse(given).web?.results ?? []).map(({ description = "", ...found }) => ({
      ...found,
      snippet: description,
    })),
};
