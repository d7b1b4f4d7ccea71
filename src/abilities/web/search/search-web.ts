import { withoutOwnElements } from "../../../lib/text/own-elements.ts";
import type { FetchedPage, SearchSettings } from "../../../domain/settings/web.ts";
import { placeOf } from "../../../lib/http/address-guard.ts";
import { mebibyte } from "../../../lib/text/bytes.ts";
import { ToolError } from "../../../protocol/tools.ts";
import { type Answer, type AnswerLimits, fetchBytes } from "../fetch-bytes.ts";
import { pageTypeOf } from "../page-type.ts";
import { searchCatalog } from "./catalog.ts";
import type { SearchResult } from "./search-provider.ts";

const answerBytes = 2 * mebibyte;
const answerMs = 20_000;
const titleChars = 200;
const snippetChars = 600;
const shownAddressChars = 1_000;

/** Search result: words for the model or a page for the agent, with the response. */
export interface Searched {
  readonly found: string | FetchedPage;
  readonly results: number | undefined;
  readonly answer: Answer;
}

/** Address of the provider. */
export function searchAddress({ provider, baseUrl }: SearchSettings): URL {
  return new URL(baseUrl ?? searchCatalog[provider].baseUrl ?? "");
}

/**
 * Asks the operator's search provider, which may be on a private network and cannot redirect elsewhere. Throws
 * ToolError on failure; the provider's own message is dropped, as it may hold the key.
 */
export async function searchWeb(
  { query, count }: { readonly query: string; readonly count: number },
  settings: SearchSettings,
  { signal, ...limits }: AnswerLimits & { readonly signal: AbortSignal },
): Promise<Searched> {
  const { request, results, most } = searchCatalog[settings.provider];
  const place = searchAddress(settings);
  const wanted = Math.min(count, most);
  const { url, ...init } = request(query, wanted, { baseUrl: place.href, apiKey: settings.apiKey });
  const answer = await fetchBytes(
    url,
    { ...init, headers: { ...init.headers }, redirect: "error", signal } as RequestInit & { signal: AbortSignal },
    { pageMs: answerMs, maxBytes: answerBytes, ...limits, allowPrivate: [placeOf(place)], onlyListed: true },
  );
  if (answer.status !== 200) throw new ToolError(refusal(settings, answer.status));
  if (!results) return { found: toPage(answer), results: undefined, answer };
  const found = parse(answer, settings, results).filter(({ url: address }) => isAddress(address));
  const shown = found.slice(0, wanted);
  return { found: describe(query, shown), results: shown.length, answer };
}

function refusal({ provider }: SearchSettings, status: number): string {
  const why: Readonly<Record<number, string>> = {
    400: "it does not understand the search",
    401: "it does not take the key: the operator has to look at web.search.apiKey",
    402: "what the key may use is used up",
    403:
      provider === "searxng"
        ? "it gives no JSON: the operator has to add json to search.formats of its settings"
        : "it refuses the key, or this machine",
    422: "it does not take the key, or the search",
    429: "it wants to be asked less often. Wait before you ask again",
  };
  const reason =
    why[status] ?? (status >= 500 ? "it has trouble of its own. Try again later" : "it refuses the search");
  return `The search provider ${provider} answered ${status}: ${reason}.`;
}

function parse(
  { bytes, isCut }: Answer,
  { provider }: SearchSettings,
  results: (answer: unknown) => readonly SearchResult[],
): readonly SearchResult[] {
  try {
    if (isCut) throw new Error("too large");
    return results(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (error) {
    throw new ToolError(`The search provider ${provider} answered with something that is no list of results.`, {
      cause: error,
    });
  }
}

function toPage({ url, status, bytes, headers, isCut }: Answer): FetchedPage {
  return { url: url.href, status, content: bytes, isCut, ...pageTypeOf(bytes, headers.get("content-type")) };
}

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.href.length <= shownAddressChars;
}

/** Formats results: titles and snippets are foreign text, each confined to its line. */
function describe(query: string, results: readonly SearchResult[]): string {
  if (results.length === 0) return `Nothing was found for ${JSON.stringify(query)}.`;
  return results
    .map(({ title, url, snippet }, index) => {
      const lines = [`${index + 1}. ${oneLine(title, titleChars) || "(no title)"}`, `   ${new URL(url).href}`];
      const text = oneLine(snippet, snippetChars);
      return [...lines, ...(text === "" ? [] : [`   ${text}`])].join("\n");
    })
    .join("\n");
}

function oneLine(text: string, chars: number): string {
  const plain = withoutOwnElements(text.replaceAll(/<\/?(?:strong|b|em|mark)>/gi, ""))
    .replaceAll(/\s+/g, " ")
    .trim();
  return plain.length <= chars ? plain : `${plain.slice(0, chars).toWellFormed()}…`;
}
