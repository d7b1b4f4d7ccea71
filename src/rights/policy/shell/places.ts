import { posix } from "node:path";

import { isProtectedFileName } from "../../../domain/rights/protected-file.ts";
import { isWithin } from "../../../lib/files/paths.ts";
import { containerPaths } from "../../../protocol/paths.ts";
import { isSecretPath, secretNames } from "../../../protocol/secret-names.ts";
import { harmless, hiddenPattern, kernel, network, nowhere, shadow, steersPrograms } from "./tables/paths.ts";

export const { home } = containerPaths;
const { group, extra, scratch, temporary } = containerPaths;

/** Second names of secrets that are known by two names in a row, such as `config.json` of `.docker/config.json`. */
const secondNames = secretNames.flatMap((name) => name.split("/").slice(1)).filter((name) => !isSecretPath(name));

/** The folders in which a relative path may lie: where the line begins, and where it goes with `cd`. */
export class Folders {
  readonly #folders = [group as string];

  get all(): readonly string[] {
    return this.#folders;
  }

  /** Returns false when there would be too many to compare names in all of them. */
  enter(folder: string): boolean {
    if (this.#folders.length >= 16) return false;
    this.#folders.push(...this.#folders.map((before) => posix.resolve(before, folder)));
    return true;
  }
}

/**
 * Returns an effect of reading this that is worth a question; undefined for none. `text`: a path, or a word with one,
 * such as `HEAD:.env`, `--file=.env`, `@.env`, `-f.env`. `work` is told how many names are compared.
 */
export function faultOfReading(text: string, { all }: Folders, work: (names: number) => void): string | undefined {
  if (network.test(text)) return "opens a connection to the network";
  const attached = /^-\w./.test(text) ? [text.slice(2)] : [];
  for (const path of new Set([text, ...attached, ...text.split(/[=:@,]/)])) {
    if (path === "") continue;
    work(all.length * path.split("/").length);
    if (hiddenPattern.test(path) || all.some((folder) => isSecret(posix.resolve(folder, path))))
      return "reads what may hold secrets";
  }
  return undefined;
}

/** Does a shell that stands there read secrets by names which do not look like any? */
export function isDelicateFolder(folder: string): boolean {
  return isSecret(folder) || secondNames.some((name) => isSecretPath(`${folder}/${name}`));
}

function isSecret(path: string): boolean {
  return (kernel.test(path) && !harmless.test(path)) || shadow.test(path) || isSecretPath(path);
}

/** Judges writing to, changing or removing a literal path. Undefined for harmless devices. */
export function judgeWriting(
  path: string,
  hasWritableMount: boolean,
): { readonly level: "medium" | "high"; readonly does: string } | undefined {
  const full = posix.resolve(group, path);
  if (network.test(full)) return { level: "high", does: "opens a connection to the network" };
  if (full === nowhere) return undefined;
  if (isProtectedFileName(posix.basename(full))) return { level: "high", does: "changes the agent's instructions" };
  if (steersPrograms.test(full)) return { level: "high", does: "changes what other programs run or are told" };
  if (isWithin(full, extra)) return { level: hasWritableMount ? "high" : "medium", does: "changes a mounted folder" };
  if (![group, scratch, home, temporary, "/var/tmp"].some((folder) => isWithin(full, folder)))
    return { level: "high", does: "changes something outside the group's folder" };
  if (hasWritableMount && !path.startsWith("/"))
    return { level: "high", does: "may change a mounted folder, which the shell may be in" };
  return { level: "medium", does: "changes files of the group" };
}

/** Is it all of the group's folder, of a mount, of the home or of the machine, or everything in one of them? */
export function isWhole(path: string, { all }: Folders): boolean {
  const name = posix.basename(path);
  const meant = name.includes("*") && /^[.*?[\]]*$/.test(name) ? posix.dirname(path) : path;
  return all.some((folder) => {
    const full = posix.resolve(folder, meant);
    const isMount = isWithin(full, extra) && full.split("/").length <= 4;
    return isMount || posix.basename(full) === ".git" || [group, home, scratch].some((whole) => isWithin(whole, full));
  });
}
