import { createHash } from "node:crypto";

import { skillLimits } from "../../../domain/sandbox/skill.ts";
import { hiddenCharacter } from "../../../lib/text/hidden-characters.ts";
import { visible } from "../../../lib/text/visible.ts";

/** A file of a skill, with its path in the skill. */
export interface SkillTreeFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly isExecutable: boolean;
}

/** All files of a skill, sorted by path: small enough to be held. */
export interface SkillTree {
  readonly files: readonly SkillTreeFile[];
}

/** A tree, or why the folder cannot be a skill. */
export type TreeReading =
  | { readonly ok: true; readonly tree: SkillTree }
  | { readonly ok: false; readonly path: string; readonly detail: string };

/** Identifies the files: their paths, their bytes, and which of them can be run. */
export function hashOfTree({ files }: SkillTree): string {
  const hash = createHash("sha256");
  for (const { path, bytes, isExecutable } of files) {
    const content = createHash("sha256").update(bytes).digest("hex");
    hash.update(`${path}\0${isExecutable ? "x" : "-"}\0${content}\n`);
  }
  return hash.digest("hex");
}

/** Returns why a path is invalid for a skill's file; undefined when valid. Paths come from archives, too. */
export function treePathFault(path: string): string | undefined {
  if (path.startsWith("/")) return "is an absolute path";
  const names = path.split("/");
  if (names.includes("..")) return "leads out of the skill";
  if (names.some((name) => name === "" || name === ".")) return "is not a plain path";
  if (path.includes("\\")) return "has a backslash in it";
  if (path.length > skillLimits.pathChars) return `is longer than ${skillLimits.pathChars} characters`;
  if (names.length > skillLimits.depth) return `lies more than ${skillLimits.depth} folders deep`;
  if (!path.isWellFormed() || path.search(hiddenCharacter) >= 0) return "has characters in it that are not seen";
  return undefined;
}

/** Counts what a tree holds while it is read. */
export class TreeLimits {
  #entries = 0;
  #bytes = 0;

  /** Counts an entry; returns why it is too much, or undefined. */
  add(bytes: number): string | undefined {
    this.#entries += 1;
    this.#bytes += bytes;
    if (this.#entries > skillLimits.entries) return `there are more than ${skillLimits.entries} files and folders`;
    if (this.#bytes > skillLimits.bytes) return `there are more than ${skillLimits.bytes / 1024 / 1024} MiB in all`;
    return undefined;
  }

  get entriesLeft(): number {
    return Math.max(0, skillLimits.entries - this.#entries);
  }

  get bytesLeft(): number {
    return Math.max(0, skillLimits.bytes - this.#bytes);
  }
}

export function refusedTree(path: string, detail: string): TreeReading {
  return { ok: false, path: visible(path), detail };
}

/** The text of a file; undefined for one that is not UTF-8 text. */
export function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
