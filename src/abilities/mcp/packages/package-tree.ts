import { chmod, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

import { AppError } from "../../../lib/app-error.ts";
import { hashTree } from "../../../lib/files/hash-tree.ts";
import { mebibyte } from "../../../lib/text/bytes.ts";
import { visible } from "../../../lib/text/visible.ts";

/** Limits of a package with its dependencies. */
const most = { entries: 60_000, bytes: 512 * mebibyte, depth: 40 } as const;

/**
 * Identifies all files of a package, as `hashTree`. Throws `server_refused` for a link, a device or more than a package
 * may hold.
 */
export function hashOfPackage(folder: string): Promise<string> {
  return hashTree(
    folder,
    most,
    (path, why) => new AppError("server_refused", `The package is refused: ${visible(path)} ${why}.`),
  );
}

/** Makes files readable by everybody and writable by the host only, whatever the archives said. */
export async function openForReading(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  await chmod(folder, 0o755);
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, ((await lstat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
