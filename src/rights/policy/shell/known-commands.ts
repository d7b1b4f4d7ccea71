import { table, versions } from "./tables/commands.ts";
import type { Bounds, Kind } from "./tables/commands.ts";
import { highs } from "./tables/high-commands.ts";
import { runners } from "./tables/programs.ts";

/** A row of the table. */
export interface KnownCommand extends Bounds {
  readonly kind: Kind;
  readonly options: ReadonlyMap<string, ListedOption>;
}

/** Spelling of an option. */
export interface ListedOption {
  /** `perhaps`: only in the same word. */
  readonly takes: "nothing" | "value" | "perhaps";
  readonly isMedium: boolean;
}

function takenBy(name: string, mark: string): ListedOption["takes"] {
  if (mark === ":") return "value";
  return mark === "?" || (mark === "!" && name.startsWith("--")) ? "perhaps" : "nothing";
}

/** Reads a list of options as it is written in the table. */
function readRow(text: string): ReadonlyMap<string, ListedOption> {
  const found = text.matchAll(/([^\s:?!]+)([:?!]?)/g);
  return new Map(
    [...found].map(([, name = "", mark = ""]) => [name, { takes: takenBy(name, mark), isMedium: mark === "!" }]),
  );
}

/** `git+log` is `git log`. */
const listed = (names: string): readonly string[] =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => name.replaceAll(/\b\+(?=.)/g, " "));

const known = new Map<string, KnownCommand>(
  table.flatMap(([kind, names, options = "", bounds = {}]) =>
    listed(names).map((name) => [name, { ...bounds, kind, options: readRow(options) }] as const),
  ),
);
for (const name of listed(versions))
  known.set(name.includes(" ") ? name : `${name} --version`, { kind: "names", options: new Map(), most: 0 });

const high = new Map(highs.flatMap(([does, names]) => listed(names).map((name) => [name, does] as const)));

/** Most words of a name in the tables: `git stash list`. */
const mostWords = 3;

/** Those that are not high, by their names. */
export const knownCommands: ReadonlyMap<string, KnownCommand> = known;

/** Looks words up in the tables. */
export function findCommand(words: readonly (string | undefined)[]): {
  readonly known?: KnownCommand | undefined;
  /** Effect of a command that is high. */
  readonly high?: string | undefined;
  /** Number of words that are its name. */
  readonly named: number;
} {
  for (let named = Math.min(mostWords, words.length); named > 0; named -= 1) {
    if (words.slice(0, named).includes(undefined)) continue;
    const name = words.slice(0, named).join(" ");
    const found = { known: known.get(name), high: high.get(name), named };
    if (found.known || found.high !== undefined) return found;
  }
  return { named: 1 };
}

const names = new Set([...known.keys(), ...high.keys(), ...Object.keys(runners)].map((name) => name.split(" ")[0]));

/** Does some command of this name stand in a table? */
export function isKnownName(name: string): boolean {
  return names.has(name);
}
