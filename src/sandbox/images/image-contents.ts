import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Protected and forbidden contents of an image's file system. */
export interface ImageContents {
  /** Files that start the agent, by path: a hash, or the kind of a non-file. */
  readonly program: ReadonlyMap<string, string>;
  /** Files and folders with a setuid or setgid bit, or a capability. */
  readonly privileged: readonly string[];
  readonly devices: readonly string[];
}

interface Entry {
  name: string;
  readonly type?: string | null;
  readonly mode?: number;
  readonly linkname?: string | null;
  readonly pax?: Readonly<Record<string, string>> | null;
}

/** The folder of the agent's program. */
const programFolder = "opt/crabpot/";

/** Paths that start the agent, that could run in its place, or that every program would load. */
const startedFrom: ReadonlySet<string> = new Set([
  ...["node", "python3", "sh", "bash"].flatMap((name) => [`usr/local/sbin/${name}`, `usr/local/bin/${name}`]),
  "etc/ld.so.preload",
  "opt",
  "opt/crabpot",
  "usr",
  "usr/local",
  "usr/local/bin",
  "usr/local/sbin",
]);

const setId = 0o6000;

/** Reads a root file system as a tar archive to its end; keeps nothing of it but what is asked for. */
export async function readContents(archive: Readable): Promise<ImageContents> {
  const program = new Map<string, string>();
  const privileged: string[] = [];
  const devices: string[] = [];
  const folder = await mkdtemp(join(tmpdir(), "crabpot-contents-"));
  const judge = (entry: Entry): boolean => {
    const path = posix.normalize(`/${entry.name}`).replaceAll(/^\/+|(?<!\/)\/+$/g, "");
    if (((entry.mode ?? 0) & setId) !== 0 || hasCapability(entry)) privileged.push(`/${path}`);
    if (entry.type?.endsWith("device") === true) devices.push(`/${path}`);
    if (!path.startsWith(programFolder) && !startedFrom.has(path)) return true;
    if (entry.type === "file") return false;
    program.set(`/${path}`, `${entry.type ?? "?"} ${entry.linkname ?? ""}`.trim());
    return true;
  };
  // Files that matter are hashed on their way, and lie empty in a folder that is removed.
  const { default: tar } = await import("tar-fs");
  const extracting = tar.extract(folder, {
    chown: false,
    utimes: false,
    ignore: (_name: string, entry?: unknown) => entry === undefined || judge(entry as Entry),
    mapStream: (stream: Readable, entry: Entry) => stream.pipe(hashing((sum) => program.set(pathOf(entry), sum))),
  } as unknown as Parameters<typeof tar.extract>[1]);
  try {
    await pipeline(archive, extracting);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { program, privileged: privileged.toSorted(), devices: devices.toSorted() };
}

/**
 * Returns the forbidden changes made by packages, as the end of a sentence that begins with "the packages"; undefined
 * when none.
 */
export function contentsFault(base: ImageContents, made: ImageContents): string | undefined {
  const paths = [...new Set([...base.program.keys(), ...made.program.keys()])].toSorted();
  const changed = paths.find((path) => base.program.get(path) !== made.program.get(path));
  if (changed !== undefined) return `change ${changed}, from which the agent is started`;
  const setIds = made.privileged.filter((path) => !base.privileged.includes(path));
  if (setIds.length > 0) return `bring a file with special rights: ${setIds[0]}`;
  const device = made.devices.find((path) => !base.devices.includes(path));
  return device === undefined ? undefined : `bring a device: ${device}`;
}

function hasCapability({ pax }: Entry): boolean {
  return Object.keys(pax ?? {}).some((key) => key.endsWith("security.capability"));
}

function pathOf({ name }: Entry): string {
  return posix.normalize(`/${name}`);
}

function hashing(done: (sum: string) => void): Transform {
  const hash = createHash("sha256");
  return new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      hash.update(chunk);
      next();
    },
    flush: (next) => {
      done(hash.digest("hex"));
      next();
    },
  });
}
