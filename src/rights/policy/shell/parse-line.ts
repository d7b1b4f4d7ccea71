import type { SyntaxNode } from "unbash";

import { hiddenInProse } from "../../../lib/text/hidden-characters.ts";
import { visible } from "../../../lib/text/visible.ts";

/** More text than that is not parsed. */
const maxChars = 4_096;
/** Nodes of the parsed line. */
const maxNodes = 200;
/**
 * Characters that may begin a node, wherever they stand: what has more is not parsed, which takes the longest. A dense
 * program of 4,096 characters in a here-document has some 400.
 */
const maxMarks = 800;
const mark = /[;&|()<>{}$`\n]/g;

/**
 * Parses a bash command line. Returns its nodes in the order of the text, each before those in it; or, of what cannot or
 * should not be parsed, a sentence that says why. Takes at most some 10 ms for any text, and never rejects.
 */
export async function parseLine(text: string): Promise<readonly SyntaxNode[] | string> {
  const refusal = refusalOf(text);
  if (refusal !== undefined) return refusal;
  // Loaded with the first line, not when the host starts.
  const { forEachChild, parse } = await import("unbash");
  const nodes: SyntaxNode[] = [];
  let error: string | undefined;
  const visit = (node: SyntaxNode): void => {
    nodes.push(node);
    if (node.type === "Script") error ??= node.errors?.[0]?.message;
    if (nodes.length <= maxNodes) forEachChild(node, visit);
  };
  try {
    visit(parse(text));
  } catch {
    return "It cannot be parsed.";
  }
  if (error !== undefined) return `It cannot be parsed: ${visible(error)}.`;
  return nodes.length > maxNodes ? `It has more than ${maxNodes} parts.` : nodes;
}

/** Reason for not parsing a text. */
function refusalOf(text: string): string | undefined {
  if (text.length > maxChars) return `It has ${text.length} characters; at most ${maxChars} are parsed.`;
  if (text.includes("\0")) return "It holds a NUL character, which bash cannot take.";
  if (!text.isWellFormed()) return "It is not valid Unicode.";
  const marks = text.match(mark)?.length ?? 0;
  if (marks > maxMarks) return `It has ${marks} characters like ; and (; at most ${maxMarks} are parsed.`;
  const hidden = text.match(hiddenInProse)?.find((character) => !/[\n\t\r]/.test(character));
  if (hidden === undefined) return undefined;
  const code = (hidden.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
  return `It holds the hidden character U+${code.toUpperCase()}, so what is shown of it may not be what runs.`;
}
