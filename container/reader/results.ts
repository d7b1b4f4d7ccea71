import { withoutOwnElements } from "../../src/lib/text/own-elements.ts";
import { type DomElement, parseDocument } from "./dom.ts";

const titleChars = 200;
const snippetChars = 600;
const addressChars = 1_000;

/** Reads the results of a DuckDuckGo page: numbered, with addresses, titles and a few words. */
export function readResults(html: string, { url, count }: { readonly url: string; readonly count: number }): string {
  const document = parseDocument(html);
  const found = [...document.querySelectorAll(".result")].filter((result) => !isAdvertisement(result));
  const results = found
    .map((result) => describe(result, url))
    .filter((lines) => lines !== undefined)
    .slice(0, count);
  if (results.length > 0) return results.map((lines, index) => `${index + 1}. ${lines.join("\n   ")}`).join("\n");
  if (document.querySelector(".anomaly-modal__title, #challenge-form") !== null)
    return "The search provider wants to know whether a person asks. Try again later, or ask the operator for another one.";
  return "No results.";
}

function isAdvertisement(result: DomElement): boolean {
  return /(^|\s)result--ad(\s|$)/.test(result.getAttribute("class") ?? "");
}

function describe(result: DomElement, base: string): readonly string[] | undefined {
  const link = result.querySelector("a.result__a");
  const address = link && target(link.getAttribute("href") ?? "", base);
  if (!address) return undefined;
  const snippet = oneLine(result.querySelector(".result__snippet"), snippetChars);
  return [oneLine(link, titleChars) || "(no title)", address, ...(snippet === "" ? [] : [snippet])];
}

/** Links lead through a redirection of theirs, which names where to. */
function target(href: string, base: string): string | undefined {
  const link = URL.parse(href, base);
  const behind = link?.pathname === "/l/" ? link.searchParams.get("uddg") : undefined;
  const url = behind ? URL.parse(behind) : link;
  return url && /^https?:$/.test(url.protocol) && url.href.length <= addressChars ? url.href : undefined;
}

function oneLine(element: DomElement | null, chars: number): string {
  const text = withoutOwnElements(element?.textContent ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}…`;
}
