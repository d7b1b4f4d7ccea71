import type { DomElement } from "./dom.ts";

const maxColumns = 64;
const maxSpan = 32;

/** A table as Markdown; undefined for one that only arranges a page, or holds nothing. */
export function toTable(table: DomElement, write: (cell: DomElement) => string): string | undefined {
  if (table.querySelector("table") !== null || table.getAttribute("role") === "presentation") return undefined;
  const rows = [...table.querySelectorAll("tr")].map((row) => cellsOf(row, write)).filter((cells) => cells.length > 0);
  const width = Math.min(maxColumns, Math.max(0, ...rows.map((cells) => cells.length)));
  if (width < 2) return undefined;
  const [head = [], ...body] = rows.map((cells) => Array.from({ length: width }, (_, index) => cells[index] ?? ""));
  const caption = table.querySelector("caption");
  const title = caption === null ? [] : [write(caption), ""];
  const rule = `|${" --- |".repeat(width)}`;
  return [...title, lineOf(head), rule, ...body.map(lineOf)].join("\n");
}

/** A cell that is as wide as several is followed by empty ones. */
function cellsOf(row: DomElement, write: (cell: DomElement) => string): string[] {
  const cells = [...row.children].filter(({ tagName }) => /^t[dh]$/i.test(tagName));
  return cells.flatMap((cell) => {
    const span = Math.min(maxSpan, Number.parseInt(cell.getAttribute("colspan") ?? "1", 10) || 1);
    const text = write(cell)
      .replaceAll(/\s*\n\s*/g, " ")
      .replaceAll("|", String.raw`\|`);
    return [text, ...Array.from({ length: Math.max(0, span - 1) }, () => "")];
  });
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
