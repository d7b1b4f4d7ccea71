import type { DomElement, DomNode } from "./dom.ts";
import { isInline } from "./markdown.ts";
import { formulaOf } from "./math.ts";

/** Blocks with an empty line around them. */
const spaced: ReadonlySet<string> = new Set("BLOCKQUOTE DL FIGURE H1 H2 H3 H4 H5 H6 OL P PRE TABLE UL".split(" "));

/** Converts an element to plain text: a line per block, cells separated by tabs. */
export function toPlainText(element: DomElement): string {
  const lines = new Lines();
  write(element, lines);
  return lines.text;
}

class Lines {
  readonly #done: string[] = [];
  #line = "";

  /** Text in a line, in which white space is one space. */
  add(text: string): void {
    const joined = this.#line + text.replaceAll(/\s+/g, " ");
    this.#line = joined.replaceAll(/ {2,}/g, " ");
  }

  cell(): void {
    this.#line = `${this.#line.replace(/ +$/, "")}\t`;
  }

  endLine(): void {
    const line = this.#line.replace(/^ +|[ \t]+$/g, "");
    if (line !== "") this.#done.push(line);
    this.#line = "";
  }

  gap(): void {
    this.endLine();
    if ((this.#done.at(-1) ?? "") !== "") this.#done.push("");
  }

  /** Adds text unchanged. */
  block(text: string): void {
    this.gap();
    this.#done.push(text.trimEnd());
    this.gap();
  }

  get text(): string {
    this.endLine();
    return this.#done.join("\n");
  }
}

function write(node: DomNode, lines: Lines): void {
  if (node.nodeType === 3) return lines.add(node.textContent ?? "");
  if (node.nodeType !== 1) return;
  const name = node.nodeName.toUpperCase();
  if (name === "BR") return lines.endLine();
  if (name === "PRE") return lines.block(node.textContent ?? "");
  writeElement(node, name, lines);
}

function writeElement(node: DomNode, name: string, lines: Lines): void {
  const isCell = name === "TD" || name === "TH";
  if (!isCell) end(node, name, lines);
  if (name === "LI") lines.add("- ");
  if (name === "MATH") lines.add(formulaOf(node));
  else for (const child of node.childNodes) write(child, lines);
  if (isCell) lines.cell();
  else end(node, name, lines);
}

function end(node: DomNode, name: string, lines: Lines): void {
  if (!isInline(node)) lines[endOf(name)]();
}

function endOf(name: string): "gap" | "endLine" {
  return spaced.has(name) ? "gap" : "endLine";
}
