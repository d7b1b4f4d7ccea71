import { type Block, type Inline, plainText } from "../../markdown/blocks.ts";
import { parseMarkdown } from "../../markdown/parse-markdown.ts";
import { writeInlines } from "./inline-markup.ts";

/**
 * Markdown as people see it in WhatsApp: `*bold*`, `_italic_`, `~struck~`, code, lists and quotes are its own; headings
 * become bold, links their text and address, tables lists. Code and addresses stay as they are.
 */
export function toWhatsApp(markdown: string): string {
  let written = "";
  for (const block of parseMarkdown(markdown.replaceAll(/\r\n?/g, "\n"))) {
    const lines = linesOf(block);
    if (written !== "") written += block.isApart ? "\n\n" : "\n";
    written += lines.join("\n");
  }
  return written.replaceAll(/^\n+|(?<![\n ])[\n ]+$/g, "");
}

function linesOf(block: Block): readonly string[] {
  // Code is copied out of the chat: nothing may stand before its lines.
  if (block.kind === "code") return ["```", ...block.code.replaceAll("```", "'''").split("\n"), "```"];
  const { first, others } = prefixesOf(block);
  // Three backticks that open no block would join with those of one that does.
  return textOf(block)
    .replaceAll(/`{3,}/g, (run) => "'".repeat(run.length))
    .split("\n")
    .map((line, index) => (index === 0 ? first : others) + line);
}

function prefixesOf({ within }: Block) {
  let [first, others] = ["", ""];
  for (const container of within) {
    const mark = container.kind === "quote" ? "> " : `${container.marker} `;
    const indent = container.kind === "quote" ? mark : " ".repeat(mark.length);
    first += container.kind === "item" && container.isFirst ? mark : indent;
    others += indent;
  }
  return { first, others };
}

function textOf(block: Exclude<Block, { readonly kind: "code" }>): string {
  if (block.kind === "rule") return "———";
  if (block.kind === "table") return tableOf(block.rows);
  if (block.kind === "heading") return bold(block.text);
  return block.within.at(-1)?.kind === "item" ? withBox(block.text) : writeInlines(block.text);
}

function withBox([first, ...others]: readonly Inline[]): string {
  if (!first) return "";
  const box = first.kind === "text" ? /^\[([ xX])\]\s/.exec(first.text) : null;
  if (first.kind !== "text" || !box) return writeInlines([first, ...others]);
  const rest = { kind: "text", text: first.text.slice(box[0].length) } as const;
  return `${box[1] === " " ? "☐" : "☑"} ${writeInlines([rest, ...others])}`;
}

/** A table as a list: the first cell of each row, then the others with their headings. */
function tableOf([headings = [], ...rows]: readonly (readonly (readonly Inline[])[])[]): string {
  const written = headings.map((cell) => writeInlines(cell));
  if (rows.length === 0) return bold(headings.flatMap((cell, index) => (index === 0 ? cell : [separator, ...cell])));
  const lines = rows.map(([first = [], ...others]) => {
    const said = others.map((cell, index) => {
      const text = inOneLine(writeInlines(cell));
      return headings.length > 2 ? `${written[index + 1] ?? ""}: ${text}` : text;
    });
    const name = inOneLine(bold(first.length > 0 ? first : [{ kind: "text", text: "–" }]));
    return `- ${[name, ...said].join(headings.length > 2 ? " · " : ": ")}`;
  });
  return lines.join("\n");
}

const separator: Inline = { kind: "text", text: " · " };

/** Cells have no other way to begin a new line. */
function inOneLine(cell: string): string {
  return cell.replaceAll(/ ?<br ?\/?> ?/gi, " / ");
}

/** Not where an asterisk of the text would end it, or begin another one. */
function bold(inlines: readonly Inline[]): string {
  const text = writeInlines(inlines, ["strong"]).trim();
  const isSafe = text !== "" && !/\*\S|\S\*/.test(plainOf(inlines));
  return isSafe ? `*${text}*` : text;
}

function plainOf(inlines: readonly Inline[]): string {
  return plainText(inlines.filter(({ kind }) => kind !== "code"));
}
