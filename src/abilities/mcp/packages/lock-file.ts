import type { InstalledFacts } from "../../../records/installed-record.ts";
import * as z from "zod";

import { whileGuarded } from "../../../lib/files/guarded-change.ts";
import { readLockFile, writeLockFile } from "../../../lib/files/lock-file.ts";

const installedPackage = z.strictObject({
  /** Package as in config.yaml. */
  wanted: z.string().max(1_100),
  program: z.string().max(214).optional(),
  package: z.string().min(1).max(214),
  version: z.string().min(1).max(128),
  /** Archive hash from the registry; a folder has none. */
  integrity: z.string().max(512).optional(),
  /** Hash of all its files and those of its dependencies. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Its program, as a path in the folder. */
  start: z.string().min(1).max(1_024),
  /** Packages that have install scripts, itself or those that it needs: none was run. */
  withScripts: z.array(z.string().max(214)).max(50).optional(),
  installedAt: z.iso.datetime(),
});

/** Keeps other known facts about servers in the same file. */
const lock = z.looseObject({
  version: z.literal(1),
  servers: z.record(z.string(), z.looseObject({ package: installedPackage.optional() })).default({}),
});

/** `mcp.lock` of a home. */
export type McpLock = z.output<typeof lock>;

/** The record of an installed package. */
export type LockEntry = z.output<typeof installedPackage>;

const mcpLock = {
  parse: (value: unknown) => lock.parse(value),
  empty: { version: 1, servers: {} },
  fix: "Remove it: the servers are then installed, and their tools looked at, anew.",
} as const;

/** Throws `config_invalid` for one that cannot be used. */
export async function readMcpLock(file: string): Promise<McpLock> {
  return readLockFile<McpLock>(file, mcpLock);
}

/** Last requested change by file, within this process. */
const lastChanges = new Map<string, Promise<void>>();

/** Changes it as a whole or not at all, one after another. Throws `conflict` when another process is at it. */
export function changeMcpLock(file: string, change: (before: McpLock) => Promise<McpLock>): Promise<void> {
  const before = lastChanges.get(file) ?? Promise.resolve();
  const changed = before.then(() =>
    whileGuarded(file, "the MCP servers of this home", async () =>
      writeLockFile(file, await change(await readMcpLock(file))),
    ),
  );
  lastChanges.set(
    file,
    changed.catch(() => undefined),
  );
  return changed;
}

/** Returns the facts about installed packages by server. */
export async function installedServers(file: string): Promise<Readonly<Record<string, InstalledFacts>>> {
  const { servers } = await readMcpLock(file);
  return Object.fromEntries(
    Object.entries(servers).flatMap(([name, { package: one }]) => {
      if (!one) return [];
      const { sha256, version, package: named, integrity } = one;
      return [[name, { sha256, version, package: named, ...(integrity !== undefined && { integrity }) }]];
    }),
  );
}
