import type { Command, SyntaxNode } from "unbash";

/** A command line for bash with places in it for arguments. */
export interface CommandTemplate {
  /** By turns text and the name of an argument, beginning with text. */
  readonly pieces: readonly string[];
  /** Arguments with which a word begins, where a program would take one that begins with a hyphen for an option. */
  readonly beginsWord: ReadonlySet<string>;
}

export type TemplateReading =
  | { readonly ok: true; readonly template: CommandTemplate }
  | { readonly ok: false; readonly detail: string };

/** `{{name}}` */
export const placePattern = /\{\{([^{}]*)\}\}/;
/** Commands that interpret words as code, names or numbers. */
const readsWords = /^(?:alias|declare|eval|export|let|local|read|readonly|source|test|trap|typeset|unset|\.|\[)$/;

/**
 * Finds out where the arguments stand. Each has to be a plain argument of a command, or a part of one, outside of
 * quotes: there, and only there, a word that is put between single quotes is text, whatever it holds.
 */
export async function readTemplate(command: string): Promise<TemplateReading> {
  const pieces = command.split(placePattern);
  const names = pieces.filter((_, index) => index % 2 === 1);
  const { forEachChild, parse } = await import("unbash");
  // In the place of each argument a word that stands nowhere else.
  let mark = "argument";
  while (command.includes(mark)) mark += "0";
  const markOf = (at: number): string => `${mark}${at}x`;
  const marked = pieces.map((piece, index) => (index % 2 === 1 ? markOf((index - 1) / 2) : piece)).join("");
  const script = parse(marked);
  const [error] = script.errors ?? [];
  if (error) return refused(`is no valid command line: ${error.message}`);
  // What bash reads between them is not what it reads elsewhere.
  if (names.length > 0 && command.includes("`")) return refused("has arguments and backticks: write $(…) instead");
  const found = new Map<number, boolean>();
  visit(script, forEachChild, (node) => noteArguments(node, mark, found));
  const missing = names.find((_, at) => !found.has(at));
  if (missing !== undefined)
    return refused(
      `has {{${missing}}} where its value would not be plain text: it may only stand as an argument of a command or as a part of one, without quotes around it`,
    );
  const beginning = names.filter((_, at) => found.get(at) === true);
  return { ok: true, template: { pieces, beginsWord: new Set(beginning) } };
}

function refused(detail: string): TemplateReading {
  return { ok: false, detail };
}

function visit(
  node: SyntaxNode,
  each: (node: SyntaxNode, visitor: (child: SyntaxNode) => void) => void,
  look: (node: SyntaxNode) => void,
): void {
  look(node);
  each(node, (child) => visit(child, each, look));
}

/** Notes which marks are arguments of this command, and whether an option could come of them. */
function noteArguments(node: SyntaxNode, mark: string, found: Map<number, boolean>): void {
  if (node.type !== "Command" || readsWords.test(node.name?.text ?? "")) return;
  let isBehindOptions = false;
  for (const word of node.args) {
    if (word.type !== "Word") continue;
    for (const text of plainTexts(word))
      for (const match of text.matchAll(new RegExp(`${mark}(\\d+)x`, "g"))) {
        const isAtBeginning = word.text.startsWith(match[0]);
        found.set(Number(match[1]), isAtBeginning && !isBehindOptions);
      }
    if (word.text === "--") isBehindOptions = true;
  }
}

/** Literal texts of a word outside of quotes and expansions. */
function plainTexts(word: Extract<Command["args"][number], { type: "Word" }>): string[] {
  const parts = word.parts && word.parts.length > 0 ? word.parts : [{ type: "Literal", text: word.text } as const];
  // A backslash would take the quote that stands before a value.
  return parts.flatMap((part) => (part.type === "Literal" && !/["'\\$]/.test(part.text) ? [part.text] : []));
}
