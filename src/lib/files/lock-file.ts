import { readFile } from "node:fs/promises";

import { AppError, nothingIfMissing, toError } from "../app-error.ts";
import { canonicalJson } from "../canonical-json.ts";
import { writeWhole } from "./guarded-change.ts";

/** A record of installed things: their versions and the hash of their files. */
export interface LockFile<Content> {
  /** Throws for what is no such content. */
  readonly parse: (value: unknown) => Content;
  /** Content when there is no file. */
  readonly empty: Content;
  /** Instruction for an unusable file. */
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

/** Writes atomically and in a stable order. */
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
