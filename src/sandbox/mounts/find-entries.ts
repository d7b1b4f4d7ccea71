import { spawn } from "node:child_process";
import { once } from "node:events";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";

import { AppError } from "../../lib/app-error.ts";
import { hiddenCharacter } from "../../lib/text/hidden-characters.ts";

/** An entry below a folder. */
export interface FoundEntry {
  /** Below the folder; bytes, because names need not be text. */
  readonly path: Buffer;
  /** A letter, as `find` writes it: `f`, `d`, `l`, `s`, `p`, `b`, `c`. */
  readonly type: string;
  readonly mode: number;
  readonly uid: number;
  readonly inode: string;
  readonly size: number;
  /** Last change of contents or metadata, in seconds since 1970 with a fraction. Only the clock can set it. */
  readonly changedAt: string;
  /** Number of names that the file has. */
  readonly links: number;
  /** Target of a symbolic link, as it stands there; empty for anything else. */
  readonly linkTarget: Buffer;
}

/** A folder that takes longer than this is not one to look through between two messages. */
const timeoutMs = 20_000;
/** Maximum output: several hundred thousand entries. More is a flood. */
const mostBytes = 64 * 1024 * 1024;

const format = "%y %m %U %i %s %C@ %n %P\\0%l\\0";

/**
 * Lists entries below a folder that pass one of these `find` tests, in a low-priority process. Opens each folder
 * relative to its parent, so that moving folders cannot mislead it, and never blocks the host's loop. Follows no links,
 * enters no other file systems. Throws when something is unreadable, or it takes too long.
 */
export async function findEntries(
  folder: FileHandle,
  tests: readonly (readonly string[])[],
  signal: AbortSignal,
): Promise<FoundEntry[]> {
  const life = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const expression = tests.flatMap((test, index) => (index === 0 ? [...test] : ["-o", ...test]));
  const options = ["-mindepth", "1", "-xdev", "-ignore_readdir_race"];
  const regular = ["-regextype", "posix-extended"];
  const args = [
    "-n",
    "10",
    "env",
    "LC_ALL=C",
    "find",
    ".",
    ...regular,
    ...options,
    "(",
    ...expression,
    ")",
    "-printf",
    format,
  ];
  const child = spawn("nice", args, {
    cwd: `/proc/self/fd/${folder.fd}`,
    stdio: ["ignore", "pipe", "pipe"],
    signal: life,
    killSignal: "SIGKILL",
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  const complaint = firstLine(child.stderr);
  // Both are waited for below, but may fail before.
  for (const promise of [ended, complaint]) promise.catch(() => undefined);
  try {
    const found = await readEntries(child.stdout);
    const [code] = await ended;
    if (code === 0) return found;
    throw cannot(await complaint);
  } catch (error) {
    child.kill("SIGKILL");
    await ended.catch(() => undefined);
    signal.throwIfAborted();
    throw life.aborted ? cannot(`it took longer than ${timeoutMs / 1000} s`) : error;
  }
}

function cannot(why: string): AppError {
  return new AppError("mount_denied", `it cannot be looked through (${why}).`);
}

async function readEntries(output: Readable): Promise<FoundEntry[]> {
  const found: FoundEntry[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw cannot("it holds too much to be inspected");
    const text = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let middle = text.indexOf(0); middle >= 0; middle = text.indexOf(0, from)) {
      const end = text.indexOf(0, middle + 1);
      if (end < 0) break;
      found.push(parse(text.subarray(from, middle), text.subarray(middle + 1, end)));
      from = end + 1;
    }
    rest = Buffer.from(text.subarray(from));
  }
  return found;
}

/** A name may hold anything but the NUL byte, so it is the last field. */
function parse(line: Buffer, linkTarget: Buffer): FoundEntry {
  const fields: string[] = [];
  let from = 0;
  for (let count = 0; count < 7; count += 1) {
    const end = line.indexOf(0x20, from);
    fields.push(line.toString("latin1", from, end));
    from = end + 1;
  }
  const [type = "", mode = "", uid, inode = "", size, changedAt = "", links] = fields;
  const path = Buffer.from(line.subarray(from));
  return {
    path,
    type,
    mode: Number.parseInt(mode, 8),
    uid: Number(uid),
    inode,
    size: Number(size),
    changedAt,
    links: Number(links),
    linkTarget: Buffer.from(linkTarget),
  };
}

async function firstLine(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream as AsyncIterable<Buffer>) if (text.length < 500) text += chunk.toString();
  return text.split("\n")[0]?.replaceAll(hiddenCharacter, "\u{FFFD}").slice(0, 300) || "find failed";
}
