import { createHash } from "node:crypto";
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
import { foldName } from "../../lib/files/paths.ts";
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
  readonly uncovered: string[];
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

/** Files up to this size are compared by contents, larger ones by their last change. */
const mostHashed = 64 * 1024;
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
  /** Contents of known execution points, so that only changed ones are read again. */
  readonly #contents = new Map<string, { readonly stamp: string; readonly hash: string }>();
  /** Result of the last look, kept for a folder that becomes unreadable. */
  #before: Found["executionPoints"] = new Map();

  constructor(options: MountInspectorOptions) {
    this.#options = options;
    this.#tests = [...refusalTests(options.refusedNames), ...secretTests];
  }

  /** `since`: seconds since 1970; setuid files that were not touched from then on are left to their owner. */
  async look(since: number, signal: AbortSignal): Promise<MountSighting> {
    const found: Found = { setIdFiles: [], executionPoints: new Map(), secrets: [], uncovered: [] };
    const { granted, groupFolder } = this.#options;
    const refusals: string[] = [];
    for (const mount of granted) {
      const refusal = await this.#lookInto(mount, { found, since }, signal);
      if (refusal !== undefined) refusals.push(refusal);
    }
    for (const key of this.#contents.keys()) if (!found.executionPoints.has(key)) this.#contents.delete(key);
    this.#before = found.executionPoints;
    if (granted.some(({ verdict }) => verdict !== "ro")) {
      await using folder = await openFolder(groupFolder);
      const place = { folder, path: containerPaths.group, target: "", found, since };
      for (const entry of await findEntries(folder, [setIdTest], signal)) await this.#takeBits(place, entry);
    }
    const { uncovered, ...seen } = found;
    return {
      refused: refusals.length === 0 ? undefined : refusals.join(" "),
      outdated: uncovered.length === 0 ? undefined : uncovered.join(" "),
      ...seen,
    };
  }

  /** Returns why it may no longer be mounted, as a sentence. */
  async #lookInto(
    mount: MountGrant,
    work: Pick<Place, "found" | "since">,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { target, realPath, verdict } = mount;
    const change = await recheckMount(mount);
    try {
      await using folder = await openFolder(realPath);
      if (!(await isSame(folder, mount))) throw new Error(`${realPath} is another folder by now.`);
      const place = { ...work, folder, target, path: `${containerPaths.extra}/${target}` };
      const tests = verdict === "rw" ? [...this.#tests, setIdTest, ...executionPointTests(work.since)] : this.#tests;
      const entries = await findEntries(folder, tests, signal);
      const refusal = await this.#judgeEntries(place, verdict, entries);
      if (mount.covered !== undefined) {
        const uncovered = uncoveredOf(mount.covered, await secretsAmong(folder, entries, signal));
        if (uncovered !== undefined) work.found.uncovered.push(`The mount ${target} is made anew: ${uncovered}.`);
      }
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
    const state = await this.#stateOf(entry, {
      key,
      folder,
      isCompared: !manyKinds.has(kind) || Number(changedAt) >= since,
    });
    found.executionPoints.set(key, { target, path: visiblePath(path), kind, state });
  }

  /**
   * Returns kind, contents and executability. A folder is only identified: its entries count themselves. `isCompared`:
   * by its contents.
   */
  async #stateOf(
    { path, type, mode, inode, size, changedAt, linkTarget }: FoundEntry,
    { key, folder, isCompared }: { readonly key: string; readonly folder: FileHandle; readonly isCompared: boolean },
  ): Promise<string> {
    if (type === "d") return `d ${inode}`;
    if (type === "l") return `l ${linkTarget.toString("latin1")}`;
    const stamp = `${type} ${inode} ${size} ${changedAt}`;
    if (type !== "f" || size > mostHashed || !isCompared) return stamp;
    const known = this.#contents.get(key);
    const contents = known?.stamp === stamp ? known : { stamp, hash: await hashOf(folder, path) };
    this.#contents.set(key, contents);
    return `f ${mode & 0o111} ${contents.hash}`;
  }
}

/** Returns which secret has no cover, or no longer the one that it got, as the end of a sentence. */
function uncoveredOf(covered: readonly CoveredPath[], found: readonly CoveredPath[]): string | undefined {
  const known = new Map(covered.map(({ path, inode }) => [path, inode]));
  const fresh = found.find(({ path, inode }) => known.get(path) !== inode);
  return fresh && `${visiblePath(Buffer.from(fresh.path))} looks like a secret and is not covered`;
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

/** Hash of the present file. If it was exchanged since it was found, the next look sees that. */
async function hashOf(folder: FileHandle, path: Buffer): Promise<string> {
  await using place = await openBelow(folder, path);
  if (!place || !(await place.stat()).isFile()) return "gone";
  await using file = await open(`/proc/self/fd/${place.fd}`, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(mostHashed), 0, mostHashed, 0);
  return createHash("sha256").update(buffer.subarray(0, bytesRead)).digest("hex");
}
