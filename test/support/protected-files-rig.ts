import { chmod, chown, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { ProtectedFiles } from "../../src/sandbox/workspace/protected-files.ts";
import type { RefusedChange } from "../../src/sandbox/workspace/protected-files.ts";
import { onDisk, temporaryFolder } from "./temporary-folder.ts";

export const isRoot = process.geteuid?.() === 0;
export const agentUid = 300_001;

export interface RigOptions {
  /** Whether what agents could write before was in use; asked only when there is no copy yet. */
  readonly wasInUse?: (text: string) => boolean;
  readonly now?: () => number;
}

/**
 * A group's folder and the host's copies of its protected files, with an agent of another user where tests run as root.
 */
export async function openProtectedFiles({ wasInUse = () => true, now = Date.now }: RigOptions = {}) {
  const home = await temporaryFolder(onDisk);
  const folder = join(home.path, "groups/family");
  const copies = join(home.path, "instructions");
  await mkdir(folder, { recursive: true });
  if (isRoot) await chown(folder, agentUid, agentUid);
  const refused: RefusedChange[] = [];
  /** Starts like the host. */
  const boot = (): ProtectedFiles =>
    new ProtectedFiles({
      groups: join(home.path, "groups"),
      copies,
      hostUid: process.geteuid?.() ?? 0,
      wasInUse: async (_, bytes) => wasInUse(bytes.toString()),
      refused: async (change) => void refused.push(change),
      now,
    });
  const files = boot();
  const at = (name = "AGENTS.md"): string => join(folder, name);
  return {
    files,
    boot,
    refused,
    folder,
    copies: join(copies, "family"),
    at,
    /** Files in use, by name. */
    inUse: async (by = files) =>
      Object.fromEntries((await by.settle("family")).map(({ name, bytes }) => [name, bytes.toString()])),
    mountPoint: async () => (await files.settle("family"))[0]?.mountPoint,
    operatorWrites: async (text: string, name = "AGENTS.md") => {
      await writeFile(at(`${name}.new`), text, { mode: 0o644 });
      await rename(at(`${name}.new`), at(name));
    },
    /** A file that the agent's container could have made: of its user, or at least writable by it. */
    agentWrites: async (text: string, name = "AGENTS.md") => {
      await rm(at(name), { force: true });
      await writeFile(at(name), text);
      await (isRoot ? chown(at(name), agentUid, agentUid) : chmod(at(name), 0o666));
    },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}
