import { chmod, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

import type { Access } from "../../domain/chats/group.ts";
import type { MountSighting, SeenExecutionPoint, SetIdFile } from "../../domain/sandbox/mount.ts";
import { toError } from "../../lib/app-error.ts";
import { containerPaths } from "../../protocol/paths.ts";
import { isSecretPath } from "../../protocol/secret-names.ts";
import { executionPointKind, executionPointTests, repositoriesIn } from "./execution-points.ts";
import { findEntries, type FoundEntry } from "./find-entries.ts";
import { type CoveredPath, secretsAmong, secretTests } from "./covers.ts";
import { recheckMount } from "./identity.ts";
import { foldName, isWithin } from "../../lib/files/paths.ts";
import { PointContents } from "./point-contents.ts";
import { findProtected, protectedAmong, protectedTests } from "./protected-paths.ts";
import type { MountGrant } from "./rules.ts";
import { visiblePath, type RefuseName } from "./walk.ts";
import { openBelow, openFolder } from "./open-below.ts";

export interface MountInspectorOptions {
  readonly granted: readonly MountGrant[];
  /** The group's own folder. */
  readonly groupFolder: string;
  /** Owner of the agent's files. */
  readonly uid: number;
  /** Refuses forbidden entries of a mount; with the folded names that it refuses. */
  readonly refuseName: RefuseName;
  readonly refusedNames: readonly string[];
}

interface Found {
  readonly setIdFiles: SetIdFile[];
  readonly executionPoints: Map<string, SeenExecutionPoint>;
  readonly secrets: { readonly target: string; readonly path: string }[];
  readonly outdated: string[];
}

/** One folder that is looked through. */
interface Place {
  readonly folder: FileHandle;
  /** In the container. */
  readonly path: string;
  /** Its mount; the group's own folder has none. */
  readonly target: string;
  readonly found: Found;
  readonly since: number;
}

const none: ReadonlySet<string> = new Set();
const setIdBits = 0o6000;
const setIdTest = ["-type", "f", "-perm", "/6000"] as const;
const special: Readonly<Record<string, string>> = { s: "socket", b: "device file", c: "device file" };

/** Kinds with too many files to read those that were there before: any write to them counts as a change. */
const manyKinds: ReadonlySet<string> = new Set(["executable", "script", "dot-file"]);
/** More than this of one kind in one look are not kept: an agent can make as many as it likes. */
const most = 10_000;

/**
 * Looks at what lies in the mounts of a running container: whether they may still be mounted, what looks like secrets,
 * what the host's user may run without knowing. Takes setuid and setgid away from files of the container's user.
 */
export class MountInspector {
  readonly #options: MountInspectorOptions;
  readonly #tests: readonly (readonly string[])[];
  readonly #contents = new PointContents();
  /** Result of the last look, kept for a folder that becomes unreadable. */
  #before: Found["executionPoints"] = new Map();

  constructor(options: MountInspectorOptions) {
    this.#options = options;
    this.#tests = [...refusalTests(options.refusedNames), ...secretTests];
  }

  /** `since`: seconds since 1970; setuid files that were not touched from then on are left to their owner. */
  async look(since: number, signal: AbortSignal): Promise<MountSighting> {
    const found: Found = { setIdFiles: [], executionPoints: new Map(), secrets: [], outdated: [] };
    const { granted, groupFolder } = this.#options;
    const refusals: string[] = [];
    for (const mount of granted) {
      const refusal = await this.#lookInto(mount, { found, since }, signal);
      if (refusal !== undefined) refusals.push(refusal);
    }
    this.#contents.keep(found.executionPoints);
    this.#before = found.executionPoints;
    if (granted.some(({ verdict }) => verdict !== "ro")) {
      await using folder = await openFolder(groupFolder);
      const place = { folder, path: containerPaths.group, target: "", found, since };
      for (const entry of await findEntries(folder, [setIdTest], signal)) await this.#takeBits(place, entry);
    }
    const { outdated, ...seen } = found;
    return { refused: said(refusals), outdated: said(outdated), ...seen };
  }

  /** Returns why it may no longer be mounted, as a sentence. */
  async #lookInto(
    mount: MountGrant,
    work: Pick<Place, "found" | "since">,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { target, realPath, verdict } = mount;
    const change = await recheckMount({ ...mount, protect: [] });
    try {
      await using folder = await openFolder(realPath);
      if (!(await isSame(folder, mount))) throw new Error(`${realPath} is another folder by now.`);
      const place = { ...work, folder, target, path: `${containerPaths.extra}/${target}` };
      const writable = [setIdTest, ...executionPointTests(work.since), ...protectedTests(mount.protection ?? "none")];
      const tests = verdict === "rw" ? [...this.#tests, ...writable] : this.#tests;
      const entries = await findEntries(folder, tests, signal);
      const refusal = await this.#judgeEntries(place, verdict, entries);
      const fresh = (await freshSecret(mount, { folder, entries }, signal)) ?? (await freshPath(mount, entries));
      if (fresh !== undefined) work.found.outdated.push(`The mount ${target} is made anew: ${fresh}.`);
      return change ?? (refusal && `The mount ${target} is refused from now on: it contains ${refusal}.`);
    } catch (error) {
      signal.throwIfAborted();
      for (const [key, point] of this.#before) {
        if (point.target === target) work.found.executionPoints.set(key, point);
      }
      return change ?? `The mount ${target} is refused from now on: ${toError(error).message}`;
    }
  }

  /** Notes what is in a mount, and returns what may not be, as the end of a sentence. */
  async #judgeEntries(place: Place, verdict: Access, entries: readonly FoundEntry[]): Promise<string | undefined> {
    const isWritable = verdict === "rw";
    const repositories = isWritable ? repositoriesIn(new Set(entries.map(({ path }) => path.toString()))) : none;
    let refusal: string | undefined;
    for (const entry of entries) {
      refusal ??= this.#refusalOf(entry);
      noteSecret(place, entry);
      if (!isWritable) continue;
      await this.#takeBits(place, entry);
      await this.#notePoint(place, entry, repositories);
    }
    return refusal;
  }

  /** The end of a sentence, as the rules for mounts say it. */
  #refusalOf({ path, type }: FoundEntry): string | undefined {
    const why = this.#options.refuseName(nameOf(path));
    if (why !== undefined) return `${visiblePath(path)}, a name that ${why}`;
    return special[type] && `the ${special[type]} ${visiblePath(path)}`;
  }

  async #takeBits({ folder, path: where, found, since }: Place, entry: FoundEntry): Promise<void> {
    const { type, mode, uid, changedAt, path } = entry;
    if (type !== "f" || (mode & setIdBits) === 0 || uid !== this.#options.uid || Number(changedAt) < since) return;
    await using file = await openBelow(folder, path);
    const facts = await file?.stat();
    if (!file || !facts?.isFile() || facts.uid !== uid || (facts.mode & setIdBits) === 0) return;
    // Through the descriptor: by its name it could be another file by now.
    await chmod(`/proc/self/fd/${file.fd}`, facts.mode & 0o1777);
    if (found.setIdFiles.length === most) return;
    found.setIdFiles.push({ folder: where, path: visiblePath(path), mode: (facts.mode & 0o7777).toString(8) });
  }

  async #notePoint(
    { folder, target, found, since }: Place,
    entry: FoundEntry,
    repositories: ReadonlySet<string>,
  ): Promise<void> {
    const { path, type, mode, linkTarget, changedAt } = entry;
    const isFile = type === "f";
    const facts = {
      path: path.toString("utf8"),
      isFolder: type === "d",
      isExecutable: isFile && (mode & 0o111) !== 0,
      ...(type === "l" && { linkTarget: linkTarget.toString("utf8") }),
    };
    if (found.executionPoints.size >= most) return;
    let kind = executionPointKind(facts, repositories);
    if (kind === undefined && isFile && Number(changedAt) >= since)
      kind = executionPointKind({ ...facts, head: await headOf(folder, path) }, repositories);
    if (kind === undefined) return;
    const key = `${target}/${path.toString("latin1")}`;
    const isCompared = !manyKinds.has(kind) || Number(changedAt) >= since;
    const seen = await this.#contents.of(entry, { key, folder, isCompared });
    found.executionPoints.set(key, { target, path: visiblePath(path), kind, ...seen });
  }
}

/** Returns which secret has no cover, or no longer the one that it got, as the end of a sentence. */
async function freshSecret(
  { covered }: Pick<MountGrant, "covered">,
  { folder, entries }: { readonly folder: FileHandle; readonly entries: readonly FoundEntry[] },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (covered === undefined) return undefined;
  const fresh = firstFresh(covered, await secretsAmong(folder, entries, signal));
  return fresh && `${visiblePath(Buffer.from(fresh.path))} looks like a secret and is not covered`;
}

/** The same for what is protected. */
async function freshPath(mount: MountGrant, entries: readonly FoundEntry[]): Promise<string | undefined> {
  const { realPath, verdict, protect = [], protection = "none", covered = [] } = mount;
  if (verdict !== "rw") return undefined;
  const wanted = protectedAmong(entries, protection).filter(
    (path) => !covered.some((cover) => isWithin(path, cover.path)),
  );
  const fresh = firstFresh(protect, (await findProtected(realPath, wanted)).paths);
  return fresh && `${fresh.path} is not protected`;
}

type KnownPath = Pick<CoveredPath, "path" | "inode">;

function firstFresh(known: readonly KnownPath[], found: readonly KnownPath[]): KnownPath | undefined {
  const inodes = new Map(known.map(({ path, inode }) => [path, inode]));
  return found.find(({ path, inode }) => inodes.get(path) !== inode);
}

/**
 * `find` tests for the names that the walk before the start refuses. Names beyond plain characters are all examined:
 * only folding reveals their meaning.
 */
function refusalTests(names: readonly string[]): string[][] {
  const plain = names.map(foldName).filter((name) => /^[\x21-\x7e]+$/.test(name));
  return [
    ["-type", "s"],
    ["-type", "b"],
    ["-type", "c"],
    ["-name", "*[!!-~]*"],
    ...plain.map((name) => ["-iname", name.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)]),
  ];
}

function noteSecret({ target, found: { secrets } }: Place, { path, type }: FoundEntry): void {
  if (type === "d" || secrets.length >= most || !isSecretPath(path.toString())) return;
  secrets.push({ target, path: visiblePath(path) });
}

async function isSame(folder: FileHandle, { device, inode }: MountGrant): Promise<boolean> {
  const facts = await folder.stat({ bigint: true });
  return String(facts.dev) === device && String(facts.ino) === inode;
}

function said(sentences: readonly string[]): string | undefined {
  return sentences.length === 0 ? undefined : sentences.join(" ");
}

function nameOf(path: Buffer): string {
  return path.subarray(path.lastIndexOf(0x2f) + 1).toString("utf8");
}

async function headOf(folder: FileHandle, path: Buffer): Promise<Uint8Array> {
  await using place = await openBelow(folder, path);
  if (!place || !(await place.stat()).isFile()) return Buffer.alloc(0);
  await using file = await open(`/proc/self/fd/${place.fd}`, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return buffer.subarray(0, bytesRead);
}
