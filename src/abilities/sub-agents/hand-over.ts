import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { HostileFolder } from "../../lib/files/open-hostile-file.ts";
import { giveFileTo, openFolderIn } from "../../lib/files/shared-with-owner.ts";
import { mebibyte } from "../../lib/text/bytes.ts";
import { containerPaths } from "../../protocol/paths.ts";

export interface HandOverOptions {
  readonly groupsFolder: string;
  /** Private folder of the host, on the groups' file system. */
  readonly temporaryFolder: string;
  /** Bytes that the group to which the folder belongs may still take. */
  readonly roomFor: (folder: string) => Promise<number>;
  readonly hostUid: number;
}

const filesAtMost = 100;
const bytesAtMost = 64 * mebibyte;
const entriesPerFolder = 1_000;
const foldersDeep = 8;
/** Names that only a program means anything by; a hidden one is no result. */
const nameAllowed = /^[\p{L}\p{N}_ ][\p{L}\p{N}_ .,()+@=-]{0,199}$/u;
/** Folder for files to hand over; without it, the whole scratch folder. */
const outName = "out";
const agentsName = "agents";

/** Result: paths for the parent, and remarks about the rest. */
export interface HandedOver {
  readonly files: readonly string[];
  readonly omitted: number;
}

interface Walk {
  readonly files: string[];
  omitted: number;
  bytes: number;
}

/**
 * Copies what a sub-agent has left into its group's folder, below `agents/<id>`. Both folders belong to agents, who may
 * have put anything in the way: no link is followed, nothing that is not a file is opened, and a content is complete
 * before it has its name. Doing it again does no harm.
 */
export async function handOver(
  options: HandOverOptions,
  { id, folder, scratch }: { readonly id: string; readonly folder: string; readonly scratch: string },
): Promise<HandedOver> {
  await using opened = new AsyncDisposableStack();
  const source = await HostileFolder.open(scratch).catch(() => undefined);
  if (!source) return { files: [], omitted: 0 };
  opened.use(source);
  const out = await source.openFolder(outName);
  if (out) opened.use(out);
  const from = out ?? source;
  if ((await from.list(1)).names.length === 0) return { files: [], omitted: 0 };
  const groupFolder = opened.use(await HostileFolder.open(join(options.groupsFolder, folder)));
  const room = Math.min(bytesAtMost, Math.floor(await options.roomFor(folder)));
  const agents = opened.use(await folderIn(options, groupFolder, agentsName));
  const target = opened.use(await folderIn(options, agents, id));
  const walk: Walk = { files: [], omitted: 0, bytes: Math.max(0, room) };
  await copyAll({ options, from, to: target, path: `${containerPaths.group}/${agentsName}/${id}`, depth: 0 }, walk);
  return { files: walk.files, omitted: walk.omitted };
}

interface Level {
  readonly options: HandOverOptions;
  readonly from: HostileFolder;
  readonly to: HostileFolder;
  readonly path: string;
  readonly depth: number;
}

async function copyAll(level: Level, walk: Walk): Promise<void> {
  const { names, complete } = await level.from.list(entriesPerFolder);
  if (!complete) walk.omitted += 1;
  for (const bytes of names.toSorted((one, other) => Buffer.compare(one, other))) {
    const name = bytes.toString("utf8");
    if (!nameAllowed.test(name) || !Buffer.from(name).equals(bytes)) walk.omitted += 1;
    else if (walk.files.length >= filesAtMost) walk.omitted += 1;
    else await copyOne(level, name, walk);
  }
}

async function copyOne({ options, from, to, path, depth }: Level, name: string, walk: Walk): Promise<void> {
  await using folder = await from.openFolder(name);
  if (folder) {
    if (depth >= foldersDeep) return void (walk.omitted += 1);
    await using below = await folderIn(options, to, name);
    return await copyAll({ options, from: folder, to: below, path: `${path}/${name}`, depth: depth + 1 }, walk);
  }
  await mkdir(options.temporaryFolder, { recursive: true, mode: 0o700 });
  const temporary = join(options.temporaryFolder, randomUUID());
  try {
    const copied = await from.copyFile(name, temporary, { maxBytes: walk.bytes });
    if (!copied.ok || !(await putIn(options, { temporary, to, name }))) return void (walk.omitted += 1);
    walk.bytes -= copied.bytes;
    walk.files.push(`${path}/${name}`);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** One of an earlier attempt makes way. */
async function putIn(
  { hostUid }: HandOverOptions,
  { temporary, to, name }: { readonly temporary: string; readonly to: HostileFolder; readonly name: string },
): Promise<boolean> {
  await giveFileTo(to, temporary, hostUid);
  if ((await to.linkIn(temporary, name)) === "linked") return true;
  return (await to.remove(name)) && (await to.linkIn(temporary, name)) === "linked";
}

async function folderIn({ hostUid }: HandOverOptions, around: HostileFolder, name: string): Promise<HostileFolder> {
  const folder = await openFolderIn(around, name, hostUid);
  if (!folder) throw new Error(`the folder ${name} for results cannot be opened`);
  return folder;
}
