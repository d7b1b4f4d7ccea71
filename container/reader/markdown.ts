import type { DomElement, DomNode } from "./dom.ts";
import { formulaOf } from "./math.ts";
import { toTable } from "./table.ts";

/** Elements that stand in a line of text; all others begin a block. */
const inlineNames: ReadonlySet<string> = new Set(
  "A ABBR ACRONYM B BDI BDO BIG BR CITE CODE DATA DEL DFN EM FONT I IMG INS KBD LABEL MARK MATH NOBR OUTPUT PICTURE Q RB RP RT RUBY S SAMP SMALL SOURCE SPAN STRIKE STRONG SUB SUP TIME TT U VAR WBR".split(
    " ",
  ),
);

/** Converts an element to Markdown: headings, lists, tables, quotations, code, links. */
export function toMarkdown(element: DomElement): string {
  return blocksIn(element).join("\n\n");
}

/** Whether this is a part of a line of text. */
export function isInline(node: DomNode): boolean {
  if (node.nodeType !== 1) return true;
  const name = nameOf(node);
  if (!inlineNames.has(name)) return false;
  return name !== "A" && name !== "SPAN" ? true : [...node.childNodes].every(isInline);
}

/** The paragraphs and other blocks in an element; lines of text between them are paragraphs, too. */
function blocksIn(element: DomNode): string[] {
  const blocks: string[] = [];
  let line: DomNode[] = [];
  const endLine = (): void => {
    blocks.push(lineOf(line));
    line = [];
  };
  for (const node of element.childNodes) {
    if (isInline(node)) {
      line.push(node);
      continue;
    }
    endLine();
    blocks.push(...blockOf(node as DomElement));
  }
  endLine();
  return blocks.filter((block) => block !== "");
}

function blockOf(element: DomElement): string[] {
  const name = nameOf(element);
  if (/^H[1-6]$/.test(name)) {
    const heading = lineOf([...element.childNodes]).replaceAll("\n", " ");
    return heading === "" ? [] : [`${"#".repeat(Number(name[1]))} ${heading}`];
  }
  if (name === "PRE") return [codeBlock(element)];
  if (name === "UL" || name === "OL") return [list(element, name === "OL")];
  if (name === "BLOCKQUOTE") return [indented(toMarkdown(element), "> ", "> ")];
  if (name === "HR") return ["---"];
  if (name === "DT") return [`**${lineOf([...element.childNodes])}**`];
  if (name === "DD") return [indented(toMarkdown(element), ": ", "  ")];
  const table = name === "TABLE" ? toTable(element, (cell) => toMarkdown(cell)) : undefined;
  return table === undefined ? blocksIn(element) : [table];
}

function list(element: DomElement, isOrdered: boolean): string {
  const start = Number.parseInt(element.getAttribute("start") ?? "1", 10) || 1;
  const texts = [...element.children].map((item) => toMarkdown(item).replaceAll(/\n\n(?=\s*(?:- |\d+\. ))/g, "\n"));
  const items = texts.filter((text) => text !== "");
  return items
    .map((text, index) => {
      const mark = isOrdered ? `${start + index}. ` : "- ";
      return indented(text, mark, " ".repeat(mark.length));
    })
    .join("\n");
}

/** `first` before the first line, `rest` before all others that hold something. */
function indented(text: string, first: string, rest: string): string {
  if (text === "") return "";
  return first + text.replaceAll(/\n(?=[^\n])/g, `\n${rest}`);
}

function codeBlock(element: DomElement): string {
  const text = textWithBreaks(element).replace(/^\n+/, "").trimEnd();
  if (text.trim() === "") return "";
  const classes = `${element.getAttribute("class") ?? ""} ${element.querySelector("code")?.getAttribute("class") ?? ""}`;
  const [, language = ""] = /(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]{1,30})/.exec(classes) ?? [];
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([marks]) => marks.length + 1)));
  return `${fence}${language}\n${text}\n${fence}`;
}

function textWithBreaks(node: DomNode): string {
  if (node.nodeType === 3) return node.textContent ?? "";
  if (nameOf(node) === "BR") return "\n";
  return [...node.childNodes].map(textWithBreaks).join("");
}

/** Nodes in a line as one text; a break in it stays. */
function lineOf(nodes: readonly DomNode[]): string {
  return nodes
    .map(inlineOf)
    .join("")
    .replaceAll(/[ \t]*\n[ \t]*/g, "\n")
    .replaceAll(/[ \t]{2,}/g, " ")
    .trim();
}

const marks: Readonly<Record<string, string>> = {
  B: "**",
  STRONG: "**",
  I: "*",
  EM: "*",
  DEL: "~~",
  S: "~~",
  STRIKE: "~~",
};

/** Elements that are not looked into like others. */
const leaves: Readonly<Record<string, (element: DomElement) => string>> = {
  BR: () => "\n",
  MATH: formulaOf,
  IMG: (element) => (element.hasAttribute("src") ? `![](${element.getAttribute("src")})` : ""),
};

function inlineOf(node: DomNode): string {
  if (node.nodeType === 3) return (node.textContent ?? "").replaceAll(/\s+/g, " ");
  if (node.nodeType !== 1) return "";
  const element = node as DomElement;
  const name = nameOf(element);
  const leaf = Object.hasOwn(leaves, name) ? leaves[name] : undefined;
  if (leaf) return leaf(element);
  if (["CODE", "KBD", "SAMP", "TT"].includes(name)) return code(element.textContent ?? "");
  const content = [...element.childNodes].map(inlineOf).join("");
  if (name === "A") return link(content, element.getAttribute("href"));
  if (!isInline(element)) return ` ${content} `;
  const mark = marks[name];
  return mark === undefined ? content : within(content, mark, mark);
}

function link(content: string, href: string | null): string {
  return href === null || content.includes("](") ? content : within(content.replaceAll("\n", " "), "[", `](${href})`);
}

function code(text: string): string {
  const mark = text.includes("`") ? "``" : "`";
  return within(text.replaceAll(/\s+/g, " "), mark, mark);
}

/** White space at the edges stays outside. */
function within(content: string, before: string, after: string): string {
  const trimmed = content.trim();
  if (trimmed === "") return content;
  const at = content.indexOf(trimmed);
  return `${content.slice(0, at)}${before}${trimmed}${after}${content.slice(at + trimmed.length)}`;
}

function nameOf({ nodeName }: DomNode): string {
  return nodeName.toUpperCase();
}
