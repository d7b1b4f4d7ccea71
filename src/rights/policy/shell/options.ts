import type { KnownCommand, ListedOption } from "./known-commands.ts";
import { isLiteral } from "./words.ts";
import type { ReadWord } from "./words.ts";

type Listed = ReadonlyMap<string, ListedOption>;

/** The arguments of a command by its list of options. */
export interface CallArguments {
  readonly operands: readonly ReadWord[];
  /** Listed options, by their names. */
  readonly given: ReadonlySet<string>;
  /** The first word that may be an option and is not listed; words behind it are not read. */
  readonly unlisted?: ReadWord | undefined;
  /** An option that makes the call medium. */
  readonly medium?: ReadWord | undefined;
}

/** Names are compared as wholes: one that is abbreviated or unknown is not listed. */
export function readCallOptions(args: readonly ReadWord[], { kind, options, isWhole }: KnownCommand): CallArguments {
  const operands: ReadWord[] = [];
  const given = new Set<string>();
  if (kind === "text") return { operands: args, given };
  let medium: ReadWord | undefined;
  const rest = [...args];
  for (let word = rest.shift(); word; word = rest.shift()) {
    if (word.value === "--" && options.has("--")) return { operands: [...operands, ...rest], given, medium };
    if (word.value === undefined || !/^-./s.test(word.value)) operands.push(word);
    else {
      const names = isLiteral(word) ? readOption(word.value, rest, options, isWhole === true) : [];
      if (names.length === 0) return { operands, given, unlisted: word, medium };
      for (const name of names) given.add(name);
      if (names.some((name) => options.get(name)?.isMedium)) medium = word;
    }
  }
  return { operands, given, medium };
}

/** The options in a word; takes the value of the last from `rest` if it is there. Nothing if it is not as listed. */
function readOption(word: string, rest: ReadWord[], listed: Listed, isWhole: boolean): readonly string[] {
  const names = namesIn(word, listed);
  if (isWhole && names.length > 1) return [];
  if (listed.get(names.at(-1) ?? "")?.takes !== "value" || isAttached(word, names)) return names;
  return isValue(rest.shift()) ? names : [];
}

/** `--name` → itself, `--name=x` → `--name`, `-la` → `-l`, `-a`. Nothing when any of them is not listed. */
function namesIn(word: string, listed: Listed): readonly string[] {
  if (listed.has(word)) return [word];
  if (/^-\d+$/.test(word) && listed.has("-#")) return ["-#"];
  if (!word.startsWith("--")) return lettersIn(word, listed);
  const [name = ""] = word.split("=", 1);
  return name !== word && (listed.get(name)?.takes ?? "nothing") !== "nothing" ? [name] : [];
}

function lettersIn(word: string, listed: Listed): readonly string[] {
  const names: string[] = [];
  for (const letter of word.slice(1).split("")) {
    const option = listed.get(`-${letter}`);
    if (!option) return [];
    names.push(`-${letter}`);
    // All that is behind it is its value.
    if (option.takes !== "nothing") break;
  }
  return names;
}

/** Is the value of the last option of this word in the word itself? */
function isAttached(word: string, [first, ...more]: readonly string[]): boolean {
  return word !== first && (word.startsWith("--") || word.length > more.length + 2);
}

/** Text that begins like an option is no value: the command may take it for one. Numbers and `-` alone are values. */
function isValue(word: ReadWord | undefined): boolean {
  return word !== undefined && isLiteral(word) && !/^-\D/.test(word.value);
}
