import { constants } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import * as z from "zod";

import { accesses, type Access } from "../../domain/chats/group.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { expandHome, hasHiddenCharacters, isWithin, shellQuoted } from "../../lib/files/paths.ts";

/** An allowlist is a few lines; more is a mistake. */
const maxAllowlistBytes = 256 * 1024;

const pathText = z
  .string()
  .refine((path) => expandHome(path, "/") !== undefined, "write an absolute path or one that begins with ~/")
  .refine((path) => !hasHiddenCharacters(path), "has control or invisible characters");

const blockedName = z
  .string()
  .min(1)
  .refine((name) => !name.includes("/") && name !== "." && name !== "..", "write one name, not a path");

/** The content of `mounts.json`. Strict: an unknown key makes the whole file invalid. */
export const allowlistSchema = z.strictObject({
  roots: z.array(z.strictObject({ path: pathText, access: z.enum(accesses) })).max(256),
  blocked: z.array(blockedName).max(1024).default([]),
});

/** A folder below which mounts may be granted. `path` is as written, `realPath` where it leads now. */
export interface MountRoot {
  readonly path: string;
  readonly realPath: string;
  readonly access: Access;
}

/**
 * The allowlist as in the file. `unusable` grants nothing and carries a reason, as a sentence, and a repair command if
 * there is one.
 */
export type Allowlist =
  | { readonly state: "ready"; readonly roots: readonly MountRoot[]; readonly blocked: readonly string[] }
  | { readonly state: "unusable"; readonly reason: string; readonly fix?: string | undefined };

export interface AllowlistLocation {
  readonly path: string;
  /** Meaning of `~`. */
  readonly homeFolder: string;
  readonly hostUid: number;
}

/**
 * Reads the mount allowlist. Valid only when nobody but root and the host's user can have written it: a regular file of
 * one of them, not writable by others, in such a folder, outside of all its own roots. Never rejects.
 */
export async function readAllowlist(place: AllowlistLocation): Promise<Allowlist> {
  try {
    const text = await readTrusted(place);
    if (text === undefined)
      return unusable(`${place.path} does not exist, so no mount is allowed; see mounts.example.json`);
    const parsed = allowlistSchema.safeParse(JSON.parse(text));
    if (!parsed.success) return unusable(`${place.path} is not valid: ${firstIssue(parsed.error)}`);
    return await locate(place, parsed.data);
  } catch (error) {
    const fix = error instanceof AppError ? error.fix : undefined;
    return { state: "unusable", reason: `${place.path} cannot be used: ${toError(error).message}`, fix };
  }
}

function unusable(reason: string): Allowlist {
  return { state: "unusable", reason };
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? "unknown fault" : `${issue.path.join(".") || "top level"}: ${issue.message}`;
}

/** The file's text; undefined when there is none; throws when others could have written it. */
async function readTrusted({ path, hostUid }: AllowlistLocation): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    if (error.code === "ELOOP") throw new Error("it is a symbolic link; put the file itself there");
    throw error;
  });
  if (file === undefined) return undefined;

  await using opened = file;
  const facts = await opened.stat();
  if (!facts.isFile()) throw new Error("it is not a regular file");
  if (facts.size > maxAllowlistBytes) throw new Error(`it is larger than ${maxAllowlistBytes} bytes`);
  requireOwnership(facts, hostUid, path);
  const folder = dirname(path);
  requireOwnership(await stat(folder), hostUid, folder);
  return await opened.readFile("utf8");
}

function requireOwnership({ uid, mode }: { uid: number; mode: number }, hostUid: number, path: string): void {
  if (uid !== 0 && uid !== hostUid) {
    const fix = `chown ${hostUid} ${shellQuoted(path)}`;
    throw new AppError("mount_denied", `${path} belongs to uid ${uid}, not to root or the host's user; run: ${fix}`, {
      fix,
    });
  }
  const sticky = (mode & 0o1000) !== 0;
  if ((mode & 0o022) === 0 || sticky) return;
  const fix = `chmod go-w ${shellQuoted(path)}`;
  throw new AppError("mount_denied", `${path} can be written by others; run: ${fix}`, { fix });
}

async function locate(place: AllowlistLocation, content: z.infer<typeof allowlistSchema>): Promise<Allowlist> {
  const file = await realpath(place.path);
  const roots: MountRoot[] = [];
  for (const { path, access } of content.roots) {
    const realPath = await realpath(expandHome(path, place.homeFolder) ?? path).catch(() => undefined);
    if (realPath === undefined) continue;
    if (isWithin(file, realPath)) {
      return unusable(
        `${place.path} lies inside its own root ${path}, where an agent could rewrite it; name narrower roots`,
      );
    }
    roots.push({ path, realPath, access });
  }
  return { state: "ready", roots, blocked: content.blocked };
}
