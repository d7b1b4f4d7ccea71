import { AppError } from "../../lib/app-error.ts";

const indent = "  ";
/** Maximum depth of indented payloads; deeper ones are shown unchanged. */
const deepest = 32;
/** Control characters that no text has; blanks and ends of lines are none. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const noText = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/;

/** Payload as text for people and models: indented JSON, other text unchanged. Throws `bad_input` for binary data. */
export function readPayload(body: Uint8Array): string {
  const text = decode(body);
  return isJson(text) ? formatJson(text) : text;
}

function decode(body: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    if (!noText.test(text)) return text;
  } catch {
    // Said below.
  }
  throw new AppError("bad_input", `The body (${body.length} bytes) is no text in UTF-8. Send text or JSON.`);
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Changes nothing but the blanks between tokens: a long number or a key that is there twice is shown as it was sent.
 */
function formatJson(json: string): string {
  let depth = 0;
  let before = "";
  const pieces: string[] = [];
  for (const token of json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []) {
    if (closes(token)) depth -= 1;
    const blank = isOnNextLine(before, token) ? `\n${indent.repeat(depth)}` : "";
    pieces.push(blank, token === ":" ? ": " : token);
    if (opens(token)) depth += 1;
    if (depth > deepest) return json;
    before = token;
  }
  return pieces.join("");
}

function isOnNextLine(before: string, token: string): boolean {
  if (opens(before)) return !closes(token);
  return before === "," || closes(token);
}

function opens(token: string): boolean {
  return token === "{" || token === "[";
}

function closes(token: string): boolean {
  return token === "}" || token === "]";
}
