import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";

import { type AllowedRun, scriptChars, type ShownScript } from "../../../src/protocol/messages.ts";

/** Longer files are no scripts that people read. */
const maxBytes = 16 * 1024 * 1024;

/** Reads scripts for people: their digests and how they begin. */
export async function showScripts(directory: string, paths: readonly string[]): Promise<ShownScript[]> {
  return Promise.all(
    paths.map(async (path) => {
      const bytes = await readScript(directory, path);
      if (!bytes) return { path };
      const beginning = textOf(bytes);
      return { path, sha256: digest(bytes), bytes: bytes.length, ...(beginning !== undefined && { beginning }) };
    }),
  );
}

/** The first of these that is not what people were shown. */
export async function changedScript(
  directory: string,
  { scripts = [] }: Pick<AllowedRun, "scripts">,
): Promise<string | undefined> {
  for (const { path, sha256 } of scripts) {
    const bytes = await readScript(directory, path);
    if ((bytes && digest(bytes)) !== sha256) return path;
  }
  return undefined;
}

/** Undefined where there is no such file. A pipe or device is none, and is not waited for. */
async function readScript(directory: string, path: string): Promise<Buffer | undefined> {
  try {
    await using file = await open(resolve(directory, path), constants.O_RDONLY | constants.O_NONBLOCK);
    const { size } = await file.stat().then((stat) => (stat.isFile() ? stat : { size: Infinity }));
    return size > maxBytes ? undefined : await file.readFile();
  } catch {
    return undefined;
  }
}

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  return bytes.subarray(0, scriptChars).toString("utf8").slice(0, scriptChars);
}
