import { readFile, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

import { extract } from "tar-fs";

import { skillLimits } from "../../../domain/sandbox/skill.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { visible } from "../../../lib/text/visible.ts";
import { TreeLimits, treePathFault } from "../tree/skill-tree.ts";

/** An archive has a head for each entry, and may be padded. */
const mostUnpacked = skillLimits.bytes + skillLimits.entries * 2_048 + 64 * 1024;

interface Entry {
  readonly name: string;
  readonly type?: string | null | undefined;
  readonly size?: number | undefined;
}

/**
 * Unpacks a `.tar.gz` into a folder. Throws `skill_refused` for one that holds anything but files and folders inside
 * it, or more than a skill may: what was written by then lies in that folder.
 */
export async function unpack(archive: string, folder: string): Promise<void> {
  const bytes = await inflate(archive);
  const limits = new TreeLimits();
  let fault: string | undefined;
  const judge = (entry: Entry): void => {
    const found = entryFault(entry, limits);
    if (found !== undefined) fault ??= `${visible(entry.name)} ${found}`;
  };
  const extracting = extract(folder, {
    dmode: 0o700,
    fmode: 0o600,
    map: (entry) => {
      judge(entry);
      return entry;
    },
    ignore: () => fault !== undefined,
    // Nothing of the archive's owners and times.
    chown: false,
    utimes: false,
  } as Parameters<typeof extract>[1]);
  try {
    await pipeline(Readable.from([bytes]), extracting);
  } catch (error) {
    fault ??= toError(error).message;
  }
  if (fault !== undefined) throw new AppError("skill_refused", `${archive} is refused: ${fault}.`);
}

/** Heads of the archive itself, which name no file. */
const heads: ReadonlySet<unknown> = new Set(["pax-global-header", "pax-header"]);
const kept: ReadonlySet<unknown> = new Set(["file", "contiguous-file", "directory"]);

function entryFault({ name, type, size = 0 }: Entry, limits: TreeLimits): string | undefined {
  if (heads.has(type)) return undefined;
  if (type === "symlink" || type === "link") return "is a link";
  if (!kept.has(type)) return `is neither a file nor a folder (${type ?? "of no known kind"})`;
  const path = name.replace(/^(?:\.\/)+/, "").replace(/(?<!\/)\/+$/, "");
  return path === "" || path === "." ? undefined : (pathFault(path) ?? limits.add(size));
}

function pathFault(path: string): string | undefined {
  if (path.startsWith("/") || path.split("/").includes("..")) return "leads out of the skill";
  // Archives hold the skill's own folder, as a rule: it does not count.
  const inner = path.split("/").slice(1).join("/");
  return treePathFault(inner === "" ? path : inner);
}

async function inflate(archive: string): Promise<Buffer> {
  const { size } = await stat(archive);
  if (size > skillLimits.bytes)
    throw new AppError("skill_refused", `${archive} has ${size} bytes; at most ${skillLimits.bytes} are unpacked.`);
  try {
    return await promisify(gunzip)(await readFile(archive), { maxOutputLength: mostUnpacked });
  } catch (cause) {
    const isBomb = cause instanceof RangeError;
    const why = isBomb
      ? `it unpacks to more than ${mostUnpacked} bytes`
      : `it is no .tar.gz (${toError(cause).message})`;
    throw new AppError("skill_refused", `${archive} is refused: ${why}.`, { cause });
  }
}
