import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import SQLite from "better-sqlite3";
import * as z from "zod";

import { AppError, toError } from "../../lib/app-error.ts";
import { openPrivate } from "./database/open-private.ts";

/** The host that holds a home; `startedAt` in milliseconds since 1970. */
export interface HomeOwner {
  readonly pid: number;
  readonly startedAt: number;
}

/** Known facts about the host holding a home; empty while it starts or ends. */
export type HomeHolder = Partial<HomeOwner>;

const ownerFile = z.object({ pid: z.number().int(), startedAt: z.number() });

/**
 * Makes this process the only host of the home `folder` until it disposes the result or dies, in whatever way: the lock
 * is the kernel's, taken through an empty SQLite file. Throws AppError `host_running`, at once, when there is another
 * one.
 */
export async function lockHome(folder: string, owner: HomeOwner): Promise<AsyncDisposable> {
  const path = join(folder, "lock.sqlite");
  const connection = openLockFile(folder, path);
  try {
    // Nothing is ever written to it, so it needs no journal beside it.
    connection.pragma("journal_mode = MEMORY");
    connection.exec("begin exclusive");
  } catch (error) {
    connection.close();
    throw await refusal(folder, path, error);
  }
  try {
    await writeOwner(folder, owner);
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    [Symbol.asyncDispose]: async () => {
      // First the note, then the lock: a successor's note must not be the one that goes.
      if (connection.open) await rm(join(folder, "host.json"), { force: true });
      connection.close();
    },
  };
}

/** Looks at the lock and changes nothing. */
export async function findHomeHolder(folder: string): Promise<HomeHolder | undefined> {
  if (!isLocked(join(folder, "lock.sqlite"))) return undefined;
  return (await readOwner(folder)) ?? {};
}

function isLocked(path: string): boolean {
  try {
    const connection = new SQLite(path, { readonly: true, timeout: 0, fileMustExist: true });
    try {
      connection.exec("select 1 from sqlite_schema");
      return false;
    } finally {
      connection.close();
    }
  } catch (error) {
    return isHeld(error);
  }
}

function isHeld(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

function openLockFile(folder: string, path: string): SQLite.Database {
  try {
    return openPrivate(path, 0);
  } catch (cause) {
    throw new AppError("store_failed", `The home ${folder} cannot be locked: ${toError(cause).message}.`, { cause });
  }
}

async function refusal(folder: string, path: string, error: unknown): Promise<AppError> {
  if (!isHeld(error)) {
    return new AppError("store_failed", `The lock ${path} cannot be taken: ${toError(error).message}.`, {
      cause: error,
      fix: `remove ${path} while no host runs`,
    });
  }
  const owner = await readOwner(folder);
  const who = owner ? ` (pid ${owner.pid}, since ${new Date(owner.startedAt).toISOString()})` : "";
  return new AppError("host_running", `A host${who} is already running in the home ${folder}.`, {
    cause: error,
    fix: "stop it first, or set CRABPOT_HOME to another folder",
  });
}

async function writeOwner(folder: string, owner: HomeOwner): Promise<void> {
  const path = join(folder, "host.json");
  const draft = `${path}.new`;
  await writeFile(draft, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, path);
}

async function readOwner(folder: string): Promise<HomeOwner | undefined> {
  try {
    return ownerFile.parse(JSON.parse(await readFile(join(folder, "host.json"), "utf8")));
  } catch {
    return undefined;
  }
}
