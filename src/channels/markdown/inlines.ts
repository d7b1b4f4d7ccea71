import type { Token } from "markdown-it";

import type { Inline } from "./blocks.ts";

const emphasis = { strong: "strong", em: "emphasis", s: "struck" } as const;

interface Open {
  readonly token: Token;
  readonly inner: Inline[];
}

/** Makes a tree of the tokens of a line, which open and close each other. */
export function inlinesOf(tokens: readonly Token[]): readonly Inline[] {
  const open: Open[] = [];
  let current: Inline[] = [];
  for (const token of tokens) {
    if (token.nesting === 1) {
      open.push({ token, inner: current });
      current = [];
    } else if (token.nesting === -1) {
      const opened = open.pop();
      if (!opened) continue;
      opened.inner.push(closed(opened.token, current));
      current = opened.inner;
    } else {
      const leaf = leafOf(token);
      if (leaf) current.push(leaf);
    }
  }
  return joined(current);
}

function closed(token: Token, content: Inline[]): Inline {
  const inner = joined(content);
  const name = token.type.replace(/_open$/, "");
  if (name === "strong" || name === "em" || name === "s") return { kind: emphasis[name], mark: token.markup, inner };
  return { kind: "link", url: String(token.attrGet("href") ?? ""), inner };
}

function leafOf(token: Token): Inline | undefined {
  switch (token.type) {
    case "code_inline":
      return { kind: "code", text: token.content };
    case "softbreak":
    case "hardbreak":
      return { kind: "break" };
    case "image":
      return { kind: "image", url: String(token.attrGet("src") ?? ""), inner: inlinesOf(token.children ?? []) };
    default:
      return token.content === "" ? undefined : { kind: "text", text: token.content };
  }
}

/** Joins pieces of text that the parser has cut. */
function joined(inlines: readonly Inline[]): readonly Inline[] {
  const whole: Inline[] = [];
  for (const each of inlines) {
    const last = whole.at(-1);
    if (each.kind === "text" && last?.kind === "text")
      whole[whole.length - 1] = { kind: "text", text: last.text + each.text };
    else whole.push(each);
  }
  return whole;
}
