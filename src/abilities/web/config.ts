import { isIP } from "node:net";

import * as z from "zod";

import { searchProviders, webReaches } from "../../domain/settings/web.ts";

const howToWrite = "write host:port as in an address, such as docs.example:443, 192.0.2.7:8080 or [2001:db8::7]:443";

/** A host as it stands in an address, in lower case and in no other spelling, and always the port. */
function isPlace(text: string): boolean {
  const [, host = "", port = ""] = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]{1,253}):([1-9]\d{0,4})$/.exec(text) ?? [];
  if (host === "" || Number(port) > 65_535) return false;
  // Anything that is read as another host, as 127.1 and 0x7f.1 are, would let that one in.
  return URL.parse(`http://${text}/`)?.hostname === host && (isIP(host) === 4 || !/^[\d.]+$/.test(host));
}

const place = z.string().refine(isPlace, howToWrite);
const fetch = z.enum(webReaches);
const allow = z.array(place).max(256);
const perDay = z.number().int().min(0).max(100_000);

const search = z
  .strictObject({
    provider: z.enum(searchProviders),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .max(2048)
      .optional()
      .describe("Where it is, if not where its vendor has it; may be on a private network. searxng needs one."),
    apiKey: z.string().min(1).max(1024).optional().describe("searxng and duckduckgo need none."),
  })
  .superRefine(({ provider, baseUrl, apiKey }, context) => {
    if (provider === "searxng" && baseUrl === undefined)
      context.addIssue({ code: "custom", path: ["baseUrl"], message: "is missing: say where your searxng is" });
    if (provider !== "searxng" && provider !== "duckduckgo" && apiKey === undefined)
      context.addIssue({ code: "custom", path: ["apiKey"], message: `is missing: ${provider} wants one` });
  });

const web = z
  .strictObject({
    fetch: fetch
      .default("off")
      .describe("Pages that agents may fetch: public (any on the public internet), allowlist (those of `allow`), off."),
    allow: allow
      .default([])
      .describe(
        "host:port that may be fetched from, exactly; an address on a private network and any port may stand here.",
      ),
    search: search.optional().meta({
      description: "Who searches. With it, every group can search but those that say `fetch: off` themselves.",
      examples: [{ provider: "searxng", baseUrl: "http://127.0.0.1:8888" }],
    }),
    fetchesPerDay: perDay.default(500).describe("Pages that a group may fetch in a day (UTC)."),
    searchesPerDay: perDay.default(200).describe("Searches of a group in a day (UTC)."),
  })
  .prefault({})
  .describe("Web access of agents.");

/** Web settings of a group; missing ones come from the top level. */
const groupWeb = z.strictObject({ fetch: fetch.optional(), allow: allow.optional() }).optional();

/** The sections `web` at the top and of groups. */
export const webConfig = { top: { web }, ofGroup: { web: groupWeb }, effects: { web: "now" } } as const;
