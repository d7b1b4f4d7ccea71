import { randomUUID } from "node:crypto";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";

import * as z from "zod";

import { AppError, errorCode, nothingIfMissing, toError } from "../lib/app-error.ts";
import { canonicalJson } from "../lib/canonical-json.ts";

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const entry = z.strictObject({
  sha256: hash,
  /** As it was given to `skills install`. */
  from: z.string().max(2_000),
  /** The skill among several of one source. */
  subfolder: z.string().max(200).optional(),
  installedAt: z.iso.datetime(),
});

const lock = z.strictObject({
  version: z.literal(1),
  skills: z.record(z.string(), entry),
});

export type SkillLock = z.output<typeof lock>;
export type SkillLockEntry = z.output<typeof entry>;

/** What the operator has installed, by `skills.lock`. Throws `config_invalid` for one that cannot be used. */
export async function readSkillLock(file: string): Promise<SkillLock> {
  const text = await readFile(file, "utf8").catch(nothingIfMissing);
  if (text === undefined) return { version: 1, skills: {} };
  try {
    return lock.parse(JSON.parse(text));
  } catch (cause) {
    const [issue] = cause instanceof z.ZodError ? cause.issues : [];
    const what = issue ? `${issue.path.map(String).join(".")}: ${issue.message}` : toError(cause).message;
    throw new AppError("config_invalid", `${file} cannot be used: ${what}.`, {
      cause,
      fix: "Remove it, and install the skills again.",
    });
  }
}

/** As a whole, or not at all. */
export async function writeSkillLock(file: string, content: SkillLock): Promise<void> {
  const draft = `${file}.${randomUUID()}.new`;
  const text = `${JSON.stringify(JSON.parse(canonicalJson(content)), undefined, 2)}\n`;
  await using handle = await open(draft, "wx", 0o600);
  await handle.writeFile(text);
  await handle.sync();
  await rename(draft, file);
}

/** Changes the lock file while nobody else does. Throws `conflict` when another command is at it. */
export async function withSkillLock<Result>(file: string, change: () => Promise<Result>): Promise<Result> {
  const guard = `${file}.busy`;
  await take(guard);
  try {
    return await change();
  } finally {
    await rm(guard, { force: true });
  }
}

async function take(guard: string): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      return await writeFile(guard, String(process.pid), { flag: "wx", mode: 0o600 });
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    const holder = Number(await readFile(guard, "utf8").catch(() => ""));
    if (Number.isInteger(holder) && holder > 0 && isAlive(holder)) break;
    // Left by a command that was killed.
    await rm(guard, { force: true });
  }
  throw new AppError("conflict", "Another command is changing the skills of this home.", {
    fix: "Wait until it has ended, and try again.",
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}
