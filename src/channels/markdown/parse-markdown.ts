import MarkdownIt from "markdown-it";
import cjkFriendly from "markdown-it-cjk-friendly";

import type { Block, BlockContent, Container, Inline } from "./blocks.ts";
import { inlinesOf } from "./inlines.ts";

/** More marks of quotes and lists than this in one line are no Markdown that anybody writes. */
const tooDeep = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){40}/m;

const parser = new MarkdownIt("default", { linkify: true, html: false });
parser.use(cjkFriendly);
// Addresses stay as they are written, and only what is written as one is one.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
parser.normalizeLink = (url) => url;
parser.normalizeLinkText = (url) => url;
parser.validateLink = () => true;
// A definition of an address would go with it, and a rule below a line means a rule.
parser.disable(["reference", "lheading"]);

type Token = ReturnType<typeof parser.parse>[number];

/** Reads CommonMark with tables, struck text and bare addresses. Linear in the length of the text. */
export function parseMarkdown(markdown: string): readonly Block[] {
  if (tooDeep.test(markdown)) return [plainBlock(markdown)];
  const reader = new BlockReader();
  for (const token of parser.parse(markdown, {})) reader.read(token);
  return reader.blocks;
}

function plainBlock(text: string): Block {
  const lines = text.split("\n").flatMap((line): Inline[] => [{ kind: "break" }, { kind: "text", text: line }]);
  return { kind: "paragraph", text: lines.slice(1), within: [], isApart: false };
}

interface OpenItem {
  readonly kind: "item";
  readonly marker: string;
  isFirst: boolean;
  readonly from: number;
}

/** Flattens the tokens of a document to its innermost blocks, each with what it stands in. */
class BlockReader {
  readonly blocks: Block[] = [];
  readonly #open: (OpenItem | { readonly kind: "quote" })[] = [];
  #content: "heading" | "paragraph" = "paragraph";
  #rows: (readonly Inline[])[][] | undefined;
  /** Line behind the last block. */
  #end = 0;

  read(token: Token): void {
    const { type, map } = token;
    switch (type) {
      case "blockquote_open":
        this.#open.push({ kind: "quote" });
        break;
      case "list_item_open":
        this.#open.push({ kind: "item", marker: markerOf(token), isFirst: true, from: map?.[0] ?? this.#end });
        break;
      case "list_item_close":
        this.#addEmptyItem();
        this.#open.pop();
        break;
      case "blockquote_close":
        this.#open.pop();
        break;
      case "heading_open":
      case "paragraph_open":
        this.#content = type === "heading_open" ? "heading" : "paragraph";
        break;
      case "hr":
        this.#add({ kind: "rule" }, map);
        break;
      case "fence":
      case "code_block":
        this.#add({ kind: "code", code: token.content.replace(/\n$/, ""), language: token.info.trim() }, map);
        break;
      case "table_open":
        this.#rows = [];
        break;
      case "tr_open":
        this.#rows?.push([]);
        break;
      case "table_close":
        this.#add({ kind: "table", rows: this.#rows ?? [] }, [this.#end, this.#end]);
        this.#rows = undefined;
        break;
      case "inline":
        this.#readInline(token);
        break;
    }
  }

  #readInline({ children, map }: Token): void {
    const text = inlinesOf(children ?? []);
    if (this.#rows === undefined) return this.#add({ kind: this.#content, text }, map);
    this.#rows.at(-1)?.push(text);
    this.#end = Math.max(this.#end, map?.[1] ?? 0);
  }

  #add(content: BlockContent, map: readonly [number, number] | null): void {
    const [start, end] = map ?? [this.#end, this.#end];
    const within = this.#open.map(({ kind, ...item }): Container => {
      return kind === "item" && "marker" in item
        ? { kind, marker: item.marker, isFirst: item.isFirst }
        : { kind: "quote" };
    });
    this.blocks.push({ ...content, within, isApart: this.blocks.length > 0 && start > this.#end });
    this.#end = Math.max(this.#end, end);
    for (const item of this.#open) if (item.kind === "item") item.isFirst = false;
  }

  #addEmptyItem(): void {
    const item = this.#open.at(-1);
    if (item?.kind === "item" && item.isFirst) this.#add({ kind: "paragraph", text: [] }, [item.from, item.from + 1]);
  }
}

function markerOf({ markup, info }: Token): string {
  return info === "" ? "-" : `${info}${markup}`;
}
