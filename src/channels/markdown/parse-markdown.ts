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
  #table: { readonly rows: (readonly Inline[])[][]; readonly map: Token["map"] } | undefined;
  /** Line behind the last block. */
  #end = 0;

  /** Handler of each token that matters, by its type. */
  readonly #does: Readonly<Record<string, (token: Token) => void>> = {
    blockquote_open: () => this.#open.push({ kind: "quote" }),
    blockquote_close: () => this.#open.pop(),
    list_item_open: (token) => this.#openItem(token),
    list_item_close: () => this.#closeItem(),
    heading_open: () => (this.#content = "heading"),
    heading_close: () => (this.#content = "paragraph"),
    inline: (token) => this.#readInline(token),
    hr: ({ map }) => this.#add({ kind: "rule" }, map),
    fence: (token) => this.#readCode(token),
    code_block: (token) => this.#readCode(token),
    table_open: ({ map }) => (this.#table = { rows: [], map }),
    tr_open: () => this.#table?.rows.push([]),
    table_close: () => this.#closeTable(),
  };

  read(token: Token): void {
    this.#does[token.type]?.(token);
  }

  #openItem(token: Token): void {
    this.#open.push({ kind: "item", marker: markerOf(token), isFirst: true, from: token.map?.[0] ?? this.#end });
  }

  #closeItem(): void {
    const item = this.#open.at(-1);
    if (item?.kind === "item" && item.isFirst) this.#add({ kind: "paragraph", text: [] }, [item.from, item.from + 1]);
    this.#open.pop();
  }

  #readCode({ content, info, map }: Token): void {
    this.#add({ kind: "code", code: content.replace(/\n$/, ""), language: info.trim() }, map);
  }

  #closeTable(): void {
    const { rows, map } = this.#table ?? { rows: [], map: null };
    this.#table = undefined;
    this.#add({ kind: "table", rows }, map);
  }

  #readInline({ children, map }: Token): void {
    const text = inlinesOf(children ?? []);
    if (this.#table) this.#table.rows.at(-1)?.push(text);
    else this.#add({ kind: this.#content, text }, map);
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
}

function markerOf({ markup, info }: Token): string {
  return info === "" ? "-" : `${info}${markup}`;
}
