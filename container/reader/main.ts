/*
 * Reads one page and prints its text, in a separate process: hostile input may use up its time and memory, and the
 * agent continues.
 */
import { readFileSync, writeSync } from "node:fs";

import { withoutOwnElements } from "../../src/lib/text/own-elements.ts";
import type { ReaderOutput, ReaderTask } from "../../src/protocol/pages.ts";
import { readArticle } from "./article.ts";
import { decode } from "./decode.ts";
import { readResults } from "./results.ts";

/** More than this is not parsed: what comes of it would not be read, and takes longer than anybody waits. */
const maxHtmlChars = 4_000_000;
const maxTags = 60_000;

function read({ path, kind, show, charset, url, count = 10 }: ReaderTask): ReaderOutput {
  const { text, charset: decodedAs } = decode(readFileSync(path), charset);
  if (show === "raw") return { title: "", text: withoutOwnElements(text), hidden: 0, isCut: false, charset: decodedAs };
  if (kind === "text")
    return { title: "", text: withoutOwnElements(text), hidden: 0, isCut: false, charset: decodedAs };
  const html = text.slice(0, endOf(text));
  if (show === "results")
    return { title: "", text: readResults(html, { url, count }), hidden: 0, isCut: false, charset: decodedAs };
  const article = readArticle(html, { url, show });
  return { ...article, isCut: article.isCut || html.length < text.length, charset: decodedAs };
}

function endOf(html: string): number {
  let at = -1;
  for (let tags = 0; tags <= maxTags; tags += 1) {
    at = html.indexOf("<", at + 1);
    if (at === -1) return maxHtmlChars;
  }
  return Math.min(at, maxHtmlChars);
}

const output = Buffer.from(JSON.stringify(read(JSON.parse(process.argv[2] ?? "") as ReaderTask)));
for (let written = 0; written < output.length;) written += writeSync(1, output, written);
