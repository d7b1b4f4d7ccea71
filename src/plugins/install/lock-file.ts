import type { InstalledFacts } from "../../records/installed-record.ts";
import * as z from "zod";

import { whileGuarded } from "../../lib/files/guarded-change.ts";
import { readLockFile, writeLockFile } from "../../lib/files/lock-file.ts";
import { describedPlugin } from "../format/described.ts";
import { pluginKinds } from "../format/manifest.ts";

const entry = z.strictObject({
  /** With its scope. */
  package: z.string().max(214),
  version: z.string().max(64),
  kinds: z.array(z.enum(pluginKinds)).min(1),
  hosts: z.array(z.string().max(253)),
  /** Source as given to `plugins add`. */
  from: z.string().max(2_000),
  /** Hash of all its files, dependencies included: see `hashOfFolder`. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  installedAt: z.iso.datetime(),
  /** The module with its definitions, below its folder. */
  entry: z.string().min(1).max(200),
  /** Description by its process at installation. */
  provides: describedPlugin,
});

const lock = z.strictObject({
  version: z.literal(1),
  plugins: z.record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/), entry),
});

export type PluginLock = z.output<typeof lock>;
export type PluginLockEntry = z.output<typeof entry>;

const pluginLock = {
  parse: (value: unknown) => lock.parse(value),
  empty: { version: 1, plugins: {} },
  fix: "Remove it, and add the plugins again.",
} as const;

/** Reads `plugins.lock`. Throws `config_invalid` for an unusable file. */
export async function readPluginLock(file: string): Promise<PluginLock> {
  return readLockFile<PluginLock>(file, pluginLock);
}

export async function writePluginLock(file: string, content: PluginLock): Promise<void> {
  await writeLockFile(file, content);
}

/** Changes the lock file exclusively. Throws `conflict` while another command changes it. */
export async function withPluginLock<Result>(file: string, change: () => Promise<Result>): Promise<Result> {
  return whileGuarded(file, "the plugins of this home", change);
}

/** Returns the facts about installed plugins by name. */
export async function installedPlugins(file: string): Promise<Readonly<Record<string, InstalledFacts>>> {
  const { plugins } = await readPluginLock(file);
  return Object.fromEntries(Object.entries(plugins).map(([name, { sha256, version }]) => [name, { sha256, version }]));
}
