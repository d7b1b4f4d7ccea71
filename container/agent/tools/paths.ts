import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join, resolve } from "node:path";

import { ToolError } from "../../../src/protocol/tools.ts";

/** Base of relative paths from the model. */
export interface PathBase {
  readonly home: string;
  /** The shell's, asked anew for each call. */
  workingDirectory(): string;
}

export function resolvePath(base: PathBase, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(base.home, path.slice(1));
  return resolve(base.workingDirectory(), path);
}

/** Opens a regular file; throws for folders, pipes and devices, on which reading or writing could last for ever. */
export async function openRegularFile(path: string, flags: number): Promise<FileHandle> {
  const file = await open(path, flags | constants.O_NONBLOCK, 0o666);
  try {
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  throw new ToolError(`${path} is not a regular file.`);
}
