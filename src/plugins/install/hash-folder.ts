import { AppError } from "../../lib/app-error.ts";
import { hashTree } from "../../lib/files/hash-tree.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import { visible } from "../../lib/text/visible.ts";

/** Bounds on a plugin with the packages that it needs. */
const most = { entries: 20_000, bytes: 100 * mebibyte, depth: 32 } as const;

/**
 * Hashes everything in a plugin's folder, like `hashTree`. Throws `plugin_refused` for links, special files or too
 * much; `not_found` when it is missing.
 */
export function hashOfFolder(folder: string): Promise<string> {
  return hashTree(
    folder,
    most,
    (path, why) => new AppError("plugin_refused", `The plugin is refused: ${visible(path)} ${why}.`),
  );
}
