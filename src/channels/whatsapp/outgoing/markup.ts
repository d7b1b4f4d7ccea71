/** Stand for what is put in later; taken out of texts first. */
const marks = { bold: "\ue000", code: "\ue001" } as const;

/**
 * Markdown as people see it in WhatsApp: `*bold*`, `_italic_`, `~struck~`, code, lists and quotes are its own; headings
 * become bold, links their text and address, tables lists. Code stays as it is.
 */
export function toWhatsApp(markdown: string): string {
  const lines = markdown
    .replaceAll(/[\ue000\ue001]/g, "")
    .replaceAll(/\r\n?/g, "\n")
    .split("\n");
  const written: string[] = [];
  let at = 0;
  while (at < lines.length) {
    const block = readFence(lines, at) ?? readTable(lines, at);
    if (block) written.push(...block.written);
    else written.push(writeLine(lines[at] ?? ""));
    at = block?.end ?? at + 1;
  }
  return written
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

interface Block {
  readonly written: readonly string[];
  /** The line behind it. */
  readonly end: number;
}

/**
 * Fenced code, without the name of its language, which WhatsApp would show. One that is never closed reaches to the
 * end.
 */
function readFence(lines: readonly string[], at: number): Block | undefined {
  const opening = /^ {0,3}(`{3,}|~{3,}(?!~))[^`]*$/.exec(lines[at] ?? "");
  const run = opening?.[1];
  if (run === undefined) return undefined;
  const closing = new RegExp(`^ {0,3}${run.charAt(0)}{${run.length},}\\s*$`);
  const length = lines.slice(at + 1).findIndex((line) => closing.test(line));
  const end = length === -1 ? lines.length : at + 1 + length;
  const code = lines.slice(at + 1, end).map((line) => line.replaceAll("```", "'''"));
  return { written: ["```", ...code, "```"], end: Math.min(lines.length, end + 1) };
}

/** A table as a list: the first cell of each row, then the others with their headings. */
function readTable(lines: readonly string[], at: number): Block | undefined {
  const rule = lines[at + 1];
  if (!isRow(lines[at]) || !isRow(rule) || !cellsOf(rule).every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  const headings = cellsOf(lines[at]);
  let end = at + 2;
  while (isRow(lines[end])) end += 1;
  const rows = lines.slice(at + 2, end).map((line) => {
    const [first = "", ...others] = cellsOf(line);
    const said = others.map((cell, index) => (headings.length > 2 ? `${headings[index + 1] ?? ""}: ${cell}` : cell));
    return writeLine(`- ${[`**${first || "–"}**`, ...said].join(headings.length > 2 ? " · " : ": ")}`);
  });
  return { written: rows.length > 0 ? rows : [writeLine(`**${headings.join(" · ")}**`)], end };
}

function isRow(line: string | undefined): line is string {
  return line !== undefined && line.includes("|") && line.trim() !== "|";
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .replaceAll(/^\||(?<!\\)\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Three backticks that open no block would join with those of one that does. */
function writeLine(line: string): string {
  return styleLine(line).replaceAll(/`{3,}/g, (run) => "'".repeat(run.length));
}

function styleLine(line: string): string {
  if (/^ {0,3}([-*_])( *\1){2,} *$/.test(line)) return "———";
  const heading = /^ {0,3}#{1,6}\s/.exec(line)?.[0];
  if (heading !== undefined) {
    const said = line
      .slice(heading.length)
      .trimEnd()
      .replace(/(?<!#)#+$/, "");
    const text = writeInline(said.trim()).replaceAll("*", "").trim();
    return text === "" ? "" : `*${text}*`;
  }
  const item = /^(\s*)[-*+]\s+(?:\[([ xX])\]\s+)?(.*)$/.exec(line);
  if (!item) return writeInline(line);
  const [, indent = "", box, text = ""] = item;
  const ticked = box === undefined ? "" : box === " " ? "☐ " : "☑ ";
  return `${indent}- ${ticked}${writeInline(text)}`;
}

/** Code is taken out before anything else and put back at the end, so that nothing in it is changed. */
function writeInline(text: string): string {
  const codes: string[] = [];
  const withoutCode = text.replaceAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g, (_found, _run, code: string) => {
    codes.push(`\`${code.trim().replaceAll("`", "'")}\``);
    return marks.code;
  });
  const written = withoutCode
    .replaceAll(
      /!?\[([^\][]*)\]\(<?([^\s()<>]+(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\)/g,
      (_found, label: string, url: string) => (label === "" || label === url ? url : `${label} (${url})`),
    )
    .replaceAll(/<((?:https?:\/\/|mailto:)[^\s<>]+)>/g, "$1")
    .replaceAll(/\*\*\*(?=\S)(.+?)(?<=\S)\*\*\*/g, `${marks.bold}_$1_${marks.bold}`)
    .replaceAll(/\*\*(?=\S)(.+?)(?<=\S)\*\*/g, `${marks.bold}$1${marks.bold}`)
    .replaceAll(/(?<![\p{L}\p{N}_])__(?=\S)(.+?)(?<=\S)__(?![\p{L}\p{N}_])/gu, `${marks.bold}$1${marks.bold}`)
    .replaceAll(/(?<![\p{L}\p{N}*\\])\*(?=[^\s*])([^*\n]+?)(?<=\S)\*(?![\p{L}\p{N}*])/gu, "_$1_")
    .replaceAll(/~~(?=\S)(.+?)(?<=\S)~~/g, "~$1~")
    .replaceAll(/\\([\\`*_{}[\]()#+.!~>|-])/g, "$1")
    .replaceAll(marks.bold, "*");
  let next = 0;
  return written.replaceAll(marks.code, () => codes[next++] ?? "");
}
