import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { nothingIfMissing } from "../app-error.ts";

/*
 * A process of the host's user that may not read files, such as one under Node's permissions, can still connect to any
 * socket of that user, and Node does not tell who has connected. So callers show that they can read a file which only
 * that user can read.
 */

/** The key of one life of the host. Disposing removes it. */
export interface ControlKey extends AsyncDisposable {
  /** Compares in constant time; what callers send is hostile. */
  fits(authorization: string | undefined): boolean;
}

const keyBytes = 32;

function keyFileOf(socketPath: string): string {
  return join(dirname(socketPath), "control.key");
}

/** Writes a new key beside the control socket, for its owner's eyes only. */
export async function makeControlKey(socketPath: string): Promise<ControlKey> {
  const file = keyFileOf(socketPath);
  const draft = `${file}.${randomBytes(4).toString("hex")}`;
  const key = randomBytes(keyBytes).toString("hex");
  await writeFile(draft, `${key}\n`, { mode: 0o600, flag: "wx" });
  await rename(draft, file);
  const expected = digest(headerOf(key));
  return {
    fits: (authorization) => timingSafeEqual(digest(authorization ?? ""), expected),
    [Symbol.asyncDispose]: async () => {
      // The next host may have written its own.
      if ((await readControlKey(socketPath)) === key) await rm(file, { force: true });
    },
  };
}

/** Returns the key of the host that listens there, if it has left one. Rejects where this user may not read it. */
async function readControlKey(socketPath: string): Promise<string | undefined> {
  return (await readFile(keyFileOf(socketPath), "utf8").catch(nothingIfMissing))?.trim();
}

/** The value of `authorization` by which the host on this socket knows its operator; empty where there is no key. */
export async function controlAuthorization(socketPath: string): Promise<string> {
  const key = await readControlKey(socketPath);
  return key === undefined ? "" : headerOf(key);
}

function headerOf(key: string): string {
  return `Bearer ${key}`;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
