import { Readability } from "@mozilla/readability";

import { withoutOwnElements } from "../../src/lib/text/own-elements.ts";

import { type DomDocument, type DomElement, parseDocument } from "./dom.ts";
import { limitTree } from "./flatten.ts";
import { toMarkdown } from "./markdown.ts";
import { toPlainText } from "./plain-text.ts";
import { removeInvisible } from "./visible.ts";

/** A page's text, for a reader who does not see it. */
export interface Article {
  readonly title: string;
  readonly text: string;
  /** Characters that the page holds and does not show. */
  readonly hidden: number;
  /** Some of it was too much or too deeply nested. */
  readonly isCut: boolean;
}

interface ArticleOptions {
  /** Address of the page, for relative links. */
  readonly url: string;
  readonly show: "markdown" | "text";
}

/** Elements around a page's text. */
const surroundings =
  "nav, footer, aside, form, [role='navigation'], [role='banner'], [role='contentinfo'], [role='search']";
/** Less than this of a page is not taken for what it is about. */
const leastChars = 250;
const leastShare = 0.35;

/** Reads HTML: takes away what is invisible, finds what the page is about, and writes it down. */
export function readArticle(html: string, { url, show }: ArticleOptions): Article {
  const document = parseDocument(html);
  const isCut = limitTree(document.documentElement);
  const base = baseOf(document, url);
  const hidden = removeInvisible(document);
  makeAbsolute(document, base);
  const title = oneLine(
    document.querySelector("title")?.textContent ?? document.querySelector("h1")?.textContent ?? "",
  );
  // Where a page has no head it would stand in its text.
  for (const element of document.querySelectorAll("body title")) element.remove();
  const content = mainPart(document);
  const text = show === "markdown" ? toMarkdown(content) : toPlainText(content);
  return { title, text: tidy(text), hidden, isCut };
}

function baseOf(document: DomDocument, url: string): string {
  const written = document.querySelector("base[href]")?.getAttribute("href");
  const base = written ? URL.parse(written, url) : undefined;
  return base && /^https?:$/.test(base.protocol) ? base.href : url;
}

/** Links lead somewhere from anywhere; what is no address of the web is no link, and carries nothing. */
function makeAbsolute(document: DomDocument, base: string): void {
  for (const link of document.querySelectorAll("a[href]")) keepAddress(link, "href", base);
  for (const image of document.querySelectorAll("img")) {
    keepAddress(image, "src", base);
    // Nobody sees these: they would be a place for words to the reader.
    for (const name of ["alt", "title", "srcset", "longdesc", "aria-label"]) image.removeAttribute(name);
    if (!image.hasAttribute("src")) image.remove();
  }
  for (const titled of document.querySelectorAll("[title]")) titled.removeAttribute("title");
}

const addressChars = 500;

function keepAddress(element: DomElement, name: "href" | "src", base: string): void {
  const address = URL.parse(element.getAttribute(name)?.trim() ?? "", base);
  const isKept = address && /^(https?|mailto):$/.test(address.protocol) && address.href.length <= addressChars;
  if (isKept && element.hasAttribute(name)) element.setAttribute(name, address.href);
  else element.removeAttribute(name);
}

/** The part that the page is about; all of it but its surroundings where that cannot be told, as in lists of links. */
function mainPart(document: DomDocument): DomElement {
  const whole = bodyOf(document);
  const rest = whole.cloneNode(true) as DomElement;
  for (const part of rest.querySelectorAll(surroundings)) part.remove();
  const left = lengthOf(rest);
  const found = new Readability(document, { charThreshold: leastChars, keepClasses: true }).parse();
  if (found?.content) {
    const holder = parseDocument(found.content);
    const part = bodyOf(holder);
    for (const around of part.querySelectorAll(surroundings)) around.remove();
    const chars = lengthOf(part);
    if (chars >= leastChars && chars >= left * leastShare) return part;
  }
  return left > 0 ? rest : whole;
}

/** The parser gives `body` to documents that have one only. */
function bodyOf(document: DomDocument): DomElement {
  return document.querySelector("body") ?? document.documentElement;
}

function lengthOf(element: DomElement): number {
  return (element.textContent ?? "").replaceAll(/\s+/g, " ").trim().length;
}

function oneLine(text: string): string {
  return withoutOwnElements(text).replaceAll(/\s+/g, " ").trim();
}

function tidy(text: string): string {
  return withoutOwnElements(text)
    .replaceAll(/[ \t]+\n/g, "\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
