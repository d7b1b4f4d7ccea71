import { readFile } from "node:fs/promises";

import { AppError, nothingIfMissing, toError } from "../app-error.ts";
import { canonicalJson } from "../canonical-json.ts";
import { writeWhole } from "./guarded-change.ts";

/** What is kept of something that the operator has installed: which version of it, and the hash of its files. */
export interface LockFile<Content> {
  /** Throws for what is no such content. */
  readonly parse: (value: unknown) => Content;
  /** Where there is no file. */
  readonly empty: Content;
  /** What to do about a file that cannot be used. */
  readonly fix: string;
}

/** Throws `config_invalid` for a file that cannot be used. */
export async function readLockFile<Content>(file: string, { parse, empty, fix }: LockFile<Content>): Promise<Content> {
  const text = await readFile(file, "utf8").catch(nothingIfMissing);
  if (text === undefined) return empty;
  try {
    return parse(JSON.parse(text));
  } catch (cause) {
    throw new AppError("config_invalid", `${file} cannot be used: ${describe(cause)}.`, { cause, fix });
  }
}

/** As a whole, or not at all; in the same order whoever writes it. */
export async function writeLockFile(file: string, content: object): Promise<void> {
  await writeWhole(file, `${JSON.stringify(JSON.parse(canonicalJson(content)), undefined, 2)}\n`);
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The first thing that a schema says against it, with its place. */
function describe(cause: unknown): string {
  const { issues: [issue] = [] } = cause as { readonly issues?: readonly Issue[] };
  return issue ? `${issue.path.map(String).join(".")}: ${issue.message}` : toError(cause).message;
}
