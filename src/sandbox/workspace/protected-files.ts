import { createHash, randomUUID } from "node:crypto";
import { lstatSync } from "node:fs";
import type { BigIntStats, Stats } from "node:fs";
import { join } from "node:path";

import { instructionsFile, protectedFileNames } from "../../domain/rights/protected-file.ts";
import type { ProtectedFile, ProtectedFileName } from "../../domain/rights/protected-file.ts";
import { AppError } from "../../lib/app-error.ts";
import { HostileFolder } from "../../lib/files/open-hostile-file.ts";
import type { HostileRefusal } from "../../lib/files/open-hostile-file.ts";
import { FileCopies } from "./file-copies.ts";

/** A protected file with the content that is in use. */
export interface SettledFile extends ProtectedFile {
  readonly bytes: Buffer;
}

/** A change of a protected file that does not take effect. */
export interface RefusedChange {
  readonly group: string;
  readonly file: ProtectedFileName;
  /** `missing`: it was removed, and is put back. */
  readonly reason: HostileRefusal;
  /** New name in the group's folder; undefined when it stays. */
  readonly movedTo: string | undefined;
}

export interface ProtectedFilesOptions {
  /** The folder of the groups' folders. */
  readonly groups: string;
  /** A folder of the host alone, on the file system of `groups`. */
  readonly copies: string;
  readonly hostUid: number;
  /**
   * For a group of which there is no copy yet: whether these may be its instructions although agents could write them.
   */
  readonly wasInUse: (group: string, bytes: Buffer) => Promise<boolean>;
  /** Called before anything is moved or put back. */
  readonly refused: (change: RefusedChange) => Promise<void>;
  /** Current time in milliseconds, compared with the file system's. */
  readonly now?: () => number;
}

/** Result of the last look at a group's files. */
interface Look {
  readonly fingerprint: string;
  readonly files: readonly SettledFile[];
}

/** New instructions for a group. */
export interface InstructionsChange {
  /** Names it where it is kept until it is in its place. */
  readonly code: string;
  readonly bytes: Buffer;
  /** SHA-256 of the instructions that it is a change of. */
  readonly base: string;
  readonly isBegun: boolean;
  /** Called before anything is changed; gets what is in use. */
  readonly begin: (inUse: Buffer) => Promise<void>;
}

const maxBytes = 256 * 1024;

/**
 * A file changed twice within the clock's resolution looks the same after both; so only files older than this are known
 * by their times.
 */
const settledAfterNs = 1_000_000_000n;

/** Those that no container can be given a mount over. */
const inTheWay: ReadonlySet<HostileRefusal> = new Set(["link", "not-a-file", "foreign-owner"]);

interface Place {
  readonly group: string;
  readonly folder: HostileFolder;
  readonly copies: FileCopies;
}

/**
 * The protected files of groups. Containers have a host copy mounted over each, read-only; but when a host program
 * replaces the file, the kernel drops that mount, and the agent owns the path until the container ends. So content
 * comes into use only from a file that the host's user (or root) owns and nobody else can write, and stays in use until
 * replaced: what an agent changes meanwhile is put back.
 */
export class ProtectedFiles {
  readonly #options: Required<ProtectedFilesOptions>;
  /** One look at a time for each group; by its name. */
  readonly #looks = new Map<string, Promise<unknown>>();
  /** By the group's name; only of files that have been the same for a while. */
  readonly #lastLooks = new Map<string, Look>();
  /** Files that were refused and left in their place: told once. */
  readonly #told = new Map<string, string>();

  constructor(options: ProtectedFilesOptions) {
    this.#options = { now: Date.now, ...options };
  }

  /**
   * Takes over what the operator has changed, and sees that each file is there to be mounted over. Returns what is in
   * use: always the instructions, which may be empty, and the others as far as there are any. Throws `not_found` when
   * the group has no folder.
   */
  async settle(group: string): Promise<readonly SettledFile[]> {
    const before = this.#looks.get(group) ?? this.#copiesOf(group).tidy();
    const look = before.catch(() => undefined).then(() => this.#look(group));
    this.#looks.set(group, look);
    return look;
  }

  /**
   * Puts new instructions in the place of those in use; `changed`: those are not what they are a change of. With
   * `isBegun` it finishes what was begun before: what the operator has made of the file since then stays.
   */
  async replace(group: string, change: InstructionsChange): Promise<"written" | "changed"> {
    const before = this.#looks.get(group) ?? this.#copiesOf(group).tidy();
    const work = before.catch(() => undefined).then(() => this.#replace(group, change));
    this.#looks.set(group, work);
    return work;
  }

  async #replace(group: string, change: InstructionsChange): Promise<"written" | "changed"> {
    const { code, bytes, base, isBegun, begin } = change;
    this.#lastLooks.delete(group);
    await using folder = await HostileFolder.open(join(this.#options.groups, group));
    const copies = this.#copiesOf(group);
    if (!isBegun) {
      const inUse = (await this.#settleOne({ group, folder, copies }, instructionsFile)) ?? Buffer.alloc(0);
      if (digest(inUse) !== base) {
        await copies.unstage(code);
        return "changed";
      }
      await copies.stage(code, bytes);
      await begin(inUse);
    }
    const isPlaced = await copies.placeStaged(code, folder, instructionsFile);
    // Of a file that was put there in an earlier life of the host and that an agent has replaced since, the copy is
    // what counts.
    const refuse = (stats: Stats): HostileRefusal | undefined => this.#distrust(stats);
    const isUsed = !isPlaced && (await folder.readFile(instructionsFile, { maxBytes, refuse })).ok;
    if (!isUsed) await copies.write(instructionsFile, bytes);
    return "written";
  }

  /** This is asked for each call of the model, so the files are opened only when one of them has changed. */
  async #look(group: string): Promise<readonly SettledFile[]> {
    const before = this.#fingerprint(group);
    const last = this.#lastLooks.get(group);
    if (before !== undefined && last?.fingerprint === before) return last.files;
    this.#lastLooks.delete(group);
    const files = await this.#lookInside(group);
    if (before !== undefined && this.#fingerprint(group) === before)
      this.#lastLooks.set(group, { fingerprint: before, files });
    return files;
  }

  /**
   * Changes with each change of a group's protected files and their copies. Undefined while one of them is too new to
   * tell.
   */
  #fingerprint(group: string): string | undefined {
    const newest = BigInt(Math.floor(this.#options.now())) * 1_000_000n - settledAfterNs;
    const facts: string[] = [];
    for (const folder of [this.#options.groups, this.#options.copies]) {
      for (const name of ["", ...protectedFileNames]) {
        const stats = lstatSync(join(folder, group, name), { bigint: true, throwIfNoEntry: false });
        if (stats && name !== "" && stats.ctimeNs > newest) return undefined;
        const state = stats && name !== "" ? `${stats.size}:${stats.ctimeNs}` : "";
        facts.push(stats ? `${identityOf(stats)}:${state}` : "-");
      }
    }
    return facts.join(" ");
  }

  async #lookInside(group: string): Promise<readonly SettledFile[]> {
    await using folder = await HostileFolder.open(join(this.#options.groups, group));
    const copies = this.#copiesOf(group);
    const settled: SettledFile[] = [];
    for (const name of protectedFileNames) {
      const bytes = await this.#settleOne({ group, folder, copies }, name);
      if (bytes === undefined) continue;
      const facts = await folder.stat(name);
      const mountPoint = facts ? `${facts.dev}:${facts.ino}:${facts.birthtimeMs}` : "";
      settled.push({ name, source: copies.pathOf(name), sha256: digest(bytes), mountPoint, bytes });
    }
    return settled;
  }

  /** The content that is in use from now on. */
  async #settleOne(place: Place, name: ProtectedFileName): Promise<Buffer | undefined> {
    const { folder, copies } = place;
    const refuse = (stats: Stats): HostileRefusal | undefined => this.#distrust(stats);
    const known = copies.read(name);
    // Most groups have none of these, and this is looked at for each call of the model.
    if (known === undefined && name !== instructionsFile && !(await folder.stat(name))) return undefined;
    const reading = await folder.readFile(name, { maxBytes, refuse });
    if (reading.ok) {
      if (known?.equals(reading.bytes) !== true) await copies.write(name, reading.bytes);
      this.#told.delete(join(place.group, name));
      return reading.bytes;
    }
    // One that the operator never had there is a file of the agent's like any other.
    if (known === undefined && name !== instructionsFile) return undefined;
    if (reading.reason === "missing") return this.#restore(place, name, known);
    return (await this.#takeOver(place, name, known)) ?? this.#refuse(place, name, { reason: reading.reason, known });
  }

  async #restore(place: Place, name: ProtectedFileName, known: Buffer | undefined): Promise<Buffer | undefined> {
    const { group, folder, copies } = place;
    if (known?.length === 0 && name !== instructionsFile) {
      await copies.remove(name);
      return undefined;
    }
    if (known?.length) await this.#options.refused({ group, file: name, reason: "missing", movedTo: undefined });
    const bytes = known ?? (await beginEmpty(copies, name));
    await copies.putInto(folder, name, bytes);
    return bytes;
  }

  /**
   * Replaces an agent-writable file (from homes of earlier versions) by a new file of the host with the content in use.
   * A new file, because open descriptors could still write to the old one.
   */
  async #takeOver(place: Place, name: ProtectedFileName, known: Buffer | undefined): Promise<Buffer | undefined> {
    const { group, folder, copies } = place;
    const reading = await folder.readFile(name, { maxBytes });
    if (!reading.ok) return undefined;
    const isInUse = known ? known.equals(reading.bytes) : await this.#options.wasInUse(group, reading.bytes);
    if (!isInUse) return undefined;
    if (known === undefined) await copies.write(name, reading.bytes);
    if (!(await folder.remove(name))) return undefined;
    await copies.putInto(folder, name, reading.bytes);
    return reading.bytes;
  }

  async #refuse(
    place: Place,
    name: ProtectedFileName,
    { reason, known }: { readonly reason: HostileRefusal; readonly known: Buffer | undefined },
  ): Promise<Buffer> {
    const { group, folder, copies } = place;
    const bytes = known ?? (await beginEmpty(copies, name));
    const facts = await folder.stat(name);
    if (facts && !inTheWay.has(reason) && this.#isTrusted(facts)) {
      const key = join(group, name);
      const what = `${reason} ${facts.dev}:${facts.ino}:${facts.ctimeMs}`;
      if (this.#told.get(key) !== what) await this.#options.refused({ group, file: name, reason, movedTo: undefined });
      this.#told.set(key, what);
      return bytes;
    }
    const movedTo = `${name}.moved-${randomUUID()}`;
    await this.#options.refused({ group, file: name, reason, movedTo });
    if (!(await folder.moveTo(name, folder, movedTo)) && (await folder.stat(name))) throw stuck(group, name);
    await copies.putInto(folder, name, bytes);
    return bytes;
  }

  #copiesOf(group: string): FileCopies {
    return new FileCopies(join(this.#options.copies, group));
  }

  #distrust(facts: Stats): HostileRefusal | undefined {
    if (!this.#isTrusted(facts)) return "foreign-owner";
    // Access control lists show here as well: what they grant is never more than the bits of the file's group.
    return (facts.mode & 0o022) === 0 ? undefined : "writable-by-others";
  }

  #isTrusted({ uid }: Stats): boolean {
    return uid === this.#options.hostUid || uid === 0;
  }
}

async function beginEmpty(copies: FileCopies, name: string): Promise<Buffer> {
  const bytes = Buffer.alloc(0);
  await copies.write(name, bytes);
  return bytes;
}

/** Returns a folder's identity; its times change with every file in it. */
function identityOf({ dev, ino, mode, uid }: BigIntStats): string {
  return `${dev}:${ino}:${mode}:${uid}`;
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function stuck(group: string, name: string): AppError {
  return new AppError("conflict", `The file ${name} of group ${group} cannot be used, and cannot be moved aside.`, {
    fix: `Remove ${name} from the group's folder.`,
  });
}
