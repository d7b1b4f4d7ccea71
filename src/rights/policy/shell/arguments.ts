import type { DoubleQuotedChild, Word, WordPart } from "unbash";

import { containerPaths } from "../../../protocol/paths.ts";

/** A word of a command as bash will see it, as far as that is known before it runs. */
export interface Argument {
  /** Source text. */
  readonly source: string;
  /** Without quotes; undefined when it is known only when it runs. */
  readonly value: string | undefined;
  /** A pattern that files are matched by, such as `*.txt`; then there is no value. */
  readonly pattern: string | undefined;
  /** Known beginning; all of it when the value is known. */
  readonly beginning: string;
  /** An option may come out of it that cannot be seen now. */
  readonly mayBeOption: boolean;
  /** `<(…)`: the name of a pipe from other commands. */
  readonly isProcess: boolean;
}

const maxExpansions = 64;

/** The arguments that a word of the line becomes: one, but for braces such as `{a,b}`. */
export function readArguments(word: Word): readonly Argument[] {
  const parts = word.parts ?? [];
  if (!parts.some(({ type }) => type === "BraceExpansion")) return [readArgument(word)];
  if (!parts.every(({ type }) => type === "BraceExpansion" || type === "Literal" || type === "Glob"))
    return [unknownArgument(word.text, "")];
  const texts = expandBraces(word.text);
  if (!texts) return [unknownArgument(word.text, "")];
  return texts.map((text) => (/[*?[]/.test(text) ? patternArgument(text) : literalArgument(text)));
}

/** A word that is exactly this. */
export function literalArgument(value: string, source: string = value): Argument {
  return { source, value, pattern: undefined, beginning: value, mayBeOption: false, isProcess: false };
}

/** A word that only the run knows. */
export function unknownArgument(source: string, beginning: string): Argument {
  return { source, value: undefined, pattern: undefined, beginning, mayBeOption: true, isProcess: false };
}

function patternArgument(pattern: string): Argument {
  const beginning = /^[^*?[+@!]*/.exec(pattern)?.[0] ?? "";
  return {
    ...unknownArgument(pattern, beginning),
    pattern,
    mayBeOption: beginning === "" || beginning.startsWith("-"),
  };
}

/** Piece by piece, from the left. */
interface Reading {
  text: string;
  beginning: string;
  isKnown: boolean;
  isPattern: boolean;
  splits: boolean;
  isProcess: boolean;
}

function readArgument(word: Word): Argument {
  const { text: source } = word;
  const reading: Reading = {
    text: "",
    beginning: "",
    isKnown: true,
    isPattern: false,
    splits: false,
    isProcess: false,
  };
  if (!word.parts) reading.text = reading.beginning = word.value;
  for (const part of word.parts ?? []) readPart(reading, part);
  if (source.startsWith("~")) readTilde(reading);
  const { text, isKnown, isPattern, splits, isProcess, beginning } = reading;
  // Bash ends a string at a NUL, and what then becomes of the rest depends on the place.
  if (text.includes("\0")) return unknownArgument(source, "");
  if (isKnown && !isPattern) return { ...literalArgument(text, source), isProcess };
  if (isKnown) return { ...patternArgument(text), source };
  const mayBeOption = splits || beginning === "" || (beginning.startsWith("-") && !beginning.includes("="));
  return { source, value: undefined, pattern: undefined, beginning, mayBeOption, isProcess };
}

function readPart(reading: Reading, part: WordPart): void {
  if (part.type === "Literal" || part.type === "SingleQuoted" || part.type === "AnsiCQuoted") know(reading, part.value);
  else if (part.type === "DoubleQuoted" || part.type === "LocaleString") readQuoted(reading, part.parts);
  else if (isHome(part)) know(reading, containerPaths.home);
  else if (part.type === "Glob") {
    reading.isPattern = true;
    reading.text += part.text;
  } else if (part.type === "ProcessSubstitution") {
    reading.isProcess = true;
    know(reading, "/dev/fd/63");
  } else learnLater(reading, part.type !== "ArithmeticExpansion");
}

function readQuoted(reading: Reading, children: readonly DoubleQuotedChild[]): void {
  for (const child of children) {
    if (child.type === "Literal") know(reading, child.value);
    else if (isHome(child)) know(reading, containerPaths.home);
    // "$@" and "${a[@]}" become several words.
    else learnLater(reading, child.text.includes("@"));
  }
}

/** The one variable whose value is known: a line that sets it is judged for that. */
function isHome({ text }: WordPart): boolean {
  return text === "$HOME" || text === "${HOME}";
}

function know(reading: Reading, text: string): void {
  reading.text += text;
  if (reading.isKnown && !reading.isPattern) reading.beginning += text;
}

function learnLater(reading: Reading, splits: boolean): void {
  reading.isKnown = false;
  if (splits) reading.splits = true;
}

/** `~` and `~/…` are the agent's home, `~user` and `~+` whatever they are. */
function readTilde(reading: Reading): void {
  if (!/^~(?:$|\/)/.test(reading.text)) reading.isKnown = false;
  else reading.text = containerPaths.home + reading.text.slice(1);
  reading.beginning =
    reading.isKnown || reading.beginning.startsWith("~/") ? containerPaths.home + reading.beginning.slice(1) : "";
}

/** `a{b,c}d` → `abd`, `acd`. Undefined for what is more than lists of plain words, or too many. */
function expandBraces(text: string): readonly string[] | undefined {
  let done: readonly string[] = [text];
  for (;;) {
    const open = done.findIndex((word) => word.includes("{"));
    const found = open < 0 ? undefined : /^([^{}]*)\{([^{}]*)\}(.*)$/.exec(done[open] ?? "");
    if (open < 0) return done.some((word) => /["'\\$`]/.test(word)) ? undefined : done;
    if (!found) return undefined;
    const [, before = "", list = "", after = ""] = found;
    if (!list.includes(",")) return undefined;
    const words = list.split(",").map((item) => before + item + after);
    done = [...done.slice(0, open), ...words, ...done.slice(open + 1)];
    if (done.length > maxExpansions) return undefined;
  }
}
