import type { InstalledFacts } from "../../../records/installed-record.ts";
import * as z from "zod";

import { whileGuarded } from "../../../lib/files/guarded-change.ts";
import { readLockFile, writeLockFile } from "../../../lib/files/lock-file.ts";

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const entry = z.strictObject({
  sha256: hash,
  /** Source as given to `skills install`. */
  from: z.string().max(2_000),
  /** The skill among several of one source. */
  subfolder: z.string().max(200).optional(),
  installedAt: z.iso.datetime(),
  /** Checks the source for changes; by default when others publish it. */
  subscribed: z.boolean().optional(),
});

const lock = z.strictObject({
  version: z.literal(1),
  skills: z.record(z.string(), entry),
});

export type SkillLock = z.output<typeof lock>;
export type SkillLockEntry = z.output<typeof entry>;

const skillLock = {
  parse: (value: unknown) => lock.parse(value),
  empty: { version: 1, skills: {} },
  fix: "Remove it, and install the skills again.",
} as const;

/** Reads `skills.lock`. Throws `config_invalid` for an unusable file. */
export async function readSkillLock(file: string): Promise<SkillLock> {
  return readLockFile<SkillLock>(file, skillLock);
}

/** Writes atomically. */
export async function writeSkillLock(file: string, content: SkillLock): Promise<void> {
  await writeLockFile(file, content);
}

/** Changes the lock file exclusively. Throws `conflict` while another command changes it. */
export async function withSkillLock<Result>(file: string, change: () => Promise<Result>): Promise<Result> {
  return whileGuarded(file, "the skills of this home", change);
}

/** Returns the facts about installed skills by name. */
export async function installedSkills(file: string): Promise<Readonly<Record<string, InstalledFacts>>> {
  const { skills } = await readSkillLock(file);
  return Object.fromEntries(Object.entries(skills).map(([name, { sha256 }]) => [name, { sha256 }]));
}
