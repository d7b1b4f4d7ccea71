import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const checkout = resolve(import.meta.dirname, "../..");

/** A module is loaded at once by these, unless they name types only. */
const statement = /^(?:import|export)\s(?!type\b)(?:[^;"']*?\sfrom\s)?\s*["']([^"']+)["']/gm;

/**
 * Files of the checkout and packages that a program loads before its first line runs, each with the way that leads to
 * it.
 */
export interface Reached {
  /** By path below the checkout: the files from the program's entry to it. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  /** By name: the files from the entry to the one that imports it. */
  readonly packages: ReadonlyMap<string, readonly string[]>;
}

/** Follows the static imports of these files; the way to each thing is a shortest one. */
export function reachedFrom(entries: readonly string[]): Reached {
  const files = new Map<string, readonly string[]>(entries.map((entry) => [entry, [entry]]));
  const packages = new Map<string, readonly string[]>();
  for (const [file, way] of files)
    for (const specifier of staticImports(file)) {
      if (specifier.startsWith("node:")) continue;
      const target = specifier.startsWith(".")
        ? relative(checkout, resolve(checkout, dirname(file), specifier))
        : undefined;
      if (target === undefined) addNew(packages, packageOf(specifier), way);
      else addNew(files, target, [...way, target]);
    }
  return { files, packages };
}

function staticImports(file: string): string[] {
  if (!file.endsWith(".ts")) return [];
  const text = readFileSync(join(checkout, file), "utf8");
  return [...text.matchAll(statement)].flatMap(([, specifier]) => specifier ?? []);
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function addNew(ways: Map<string, readonly string[]>, name: string, way: readonly string[]): void {
  if (!ways.has(name)) ways.set(name, way);
}
