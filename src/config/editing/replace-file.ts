import { constants } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { AppError, errorCode, nothingIfMissing } from "../../lib/app-error.ts";
import { syncFolder } from "../../lib/files/sync-folder.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { readTrustedFile } from "../loading/config-file.ts";

/** An edit takes milliseconds: a new version that has lain beside the file for this long is of one that was cut off. */
const staleMs = 10_000;

/**
 * Replaces a protected file atomically, if it still has the content `before` (undefined: missing); AppError `conflict`
 * otherwise. Mode and owner stay; a new file is readable by its owner only.
 */
export async function replaceFile(
  file: string,
  { before, after }: { readonly before: string | undefined; readonly after: string },
): Promise<void> {
  const draft = `${file}.draft`;
  // It is also what keeps two edits at once apart.
  const handle = await openDraft(draft, file);
  try {
    await using owned = handle;
    await likeFile(owned, file);
    await owned.writeFile(after);
    await owned.sync();
    // Nothing in the system replaces a file only if it is still the same one. Between this look and the next call are
    // microseconds.
    if ((await readTrustedFile(file)) !== before) throw changedMeanwhile(file);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

async function openDraft(draft: string, file: string): Promise<FileHandle> {
  for (let isRetry = false; ; isRetry = true) {
    try {
      return await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    } catch (cause) {
      if (errorCode(cause) !== "EEXIST") throw cause;
      const found = await stat(draft).catch(nothingIfMissing);
      const isStale = found !== undefined && Date.now() - found.mtimeMs > staleMs;
      if (isRetry || (found && !isStale)) throw busy(file, draft, cause);
      if (isStale) await rm(draft, { force: true });
    }
  }
}

/** Keeps the file's owner: a rename would give it to the editor, such as root, and the host could not read it. */
async function likeFile(draft: FileHandle, file: string): Promise<void> {
  const found = await stat(file).catch(nothingIfMissing);
  if (!found) return;
  const own = await draft.stat();
  if (own.uid !== found.uid || own.gid !== found.gid) await draft.chown(found.uid, found.gid);
  await draft.chmod(found.mode & 0o7777);
}

function busy(file: string, draft: string, cause: unknown): AppError {
  return new AppError(
    "conflict",
    `${basename(file)} is being changed by somebody else (${draft} is there); nothing was changed.`,
    {
      cause,
      fix: "Try again in a moment.",
    },
  );
}

function changedMeanwhile(file: string): AppError {
  return new AppError(
    "conflict",
    `${basename(file)} was changed by somebody else in this moment; nothing was overwritten.`,
    {
      fix: `Look at it with \`${ownCommand("config show")}\`, then try again.`,
    },
  );
}
