import * as z from "zod";

import { below, postJson, type SearchProvider } from "./search-provider.ts";

const answer = z.object({
  results: z.array(
    z.object({
      title: z.string().nullish(),
      url: z.string(),
      highlights: z.array(z.string()).optional(),
      text: z.string().optional(),
    }),
  ),
});

/** Exa. */
export const exa: SearchProvider = {
  baseUrl: "https://api.exa.ai",
  most: 20,
  request: (query, count, { baseUrl, apiKey = "" }) =>
    postJson(
      below(baseUrl, "/search"),
      { "x-api-key": apiKey },
      { query, numResults: count, contents: { highlights: true } },
    ),
  results: (given) =>
    answer.parse(given).results.map(({ title, url, highlights = [], text = "" }) => ({
      title: title ?? "",
      url,
      snippet: highlights.length > 0 ? highlights.join(" … ") : text,
    })),
};
