import { open } from "node:fs/promises";

import { AppError } from "../../lib/app-error.ts";
import { isWithin } from "../../lib/files/paths.ts";
import { containerPaths } from "../../protocol/paths.ts";
import { recheckMount } from "./identity.ts";
import { openBelow, openFolder } from "./open-below.ts";
import type { MountGrant } from "./rules.ts";

/** Largest covered file that is read for an agent, in bytes. */
const mostRead = 64 * 1024;

/**
 * Reads a file that is covered in a container with these mounts, given by its path there: through verified descriptors,
 * links not followed. Throws `bad_input` with a sentence for the model.
 */
export async function readCovered(granted: readonly MountGrant[], path: string): Promise<string> {
  const mount = granted.find(({ target }) => path.startsWith(`${containerPaths.extra}/${target}/`));
  const inside = path.slice(`${containerPaths.extra}/${mount?.target ?? ""}/`.length);
  const isCovered = mount?.covered?.some((covered) => isWithin(inside, covered.path)) === true;
  if (!mount || !isCovered) throw new AppError("bad_input", `${path} is not covered.`);
  const change = await recheckMount(mount);
  if (change !== undefined) throw new AppError("bad_input", change);
  return readBelow(mount.realPath, inside, path);
}

/** `shown`: the path in words for the model. */
async function readBelow(root: string, path: string, shown: string): Promise<string> {
  await using folder = await openFolder(root);
  await using place = await openBelow(folder, Buffer.from(path));
  const facts = await place?.stat();
  if (!place || !facts?.isFile()) throw new AppError("bad_input", `${shown} is not a regular file.`);
  if (facts.size > mostRead)
    throw new AppError("bad_input", `${shown} is larger than ${mostRead} bytes, too large to be read here.`);
  await using file = await open(`/proc/self/fd/${place.fd}`, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(mostRead), 0, mostRead, 0);
  return buffer.subarray(0, bytesRead).toString("utf8");
}
