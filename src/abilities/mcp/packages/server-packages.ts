import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import type { StdioServer } from "../../../domain/sandbox/mcp-server.ts";
import { AppError, errorCode } from "../../../lib/app-error.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { readCommandLine, type WantedPackage } from "./command-line.ts";
import { changeMcpLock, type LockEntry, type McpLock, readMcpLock } from "./lock-file.ts";
import { fetchWithNpm } from "./npm-install.ts";
import { hashOfPackage, openForReading } from "./package-tree.ts";

/** Folders of servers' packages. */
export interface ServerPackageFolders {
  /** `mcp.lock` of the home. */
  readonly lock: string;
  /** A folder of the home's for them, each in one that is called as its hash. */
  readonly folder: string;
  /** Environment of the programs that fetch. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

/**
 * `none`: the server needs no package. `missing`: it is installed when it is first needed. `changed`: its files are not
 * what was installed, so it is not started.
 */
export type PackageState =
  | { readonly state: "none" }
  | { readonly state: "missing" }
  | { readonly state: "ok"; readonly entry: LockEntry; readonly folder: string }
  | { readonly state: "changed"; readonly entry: LockEntry; readonly reason: string };

const draftStart = ".new-";

/** Whether what the server needs is installed, and still what it was then. Reads all of its files. */
export async function checkServer(server: StdioServer, places: ServerPackageFolders): Promise<PackageState> {
  const { wanted } = readCommandLine(server);
  if (wanted === undefined) return { state: "none" };
  const entry = entryFor(await readMcpLock(places.lock), server.name, wanted);
  if (entry === undefined) return { state: "missing" };
  const folder = join(places.folder, entry.sha256);
  if (!existsSync(folder)) return { state: "changed", entry, reason: "its folder is gone" };
  const found = await hashOfPackage(folder).catch(() => "");
  if (found === entry.sha256) return { state: "ok", entry, folder };
  return { state: "changed", entry, reason: "its files are not those that were installed" };
}

/**
 * Installs the package of a server anew, in the version that config.yaml names or, without one, the newest; undefined
 * where it needs none. Killed at any point, it leaves the one before or the new one.
 */
export async function installServer(
  server: StdioServer,
  places: ServerPackageFolders,
  signal?: AbortSignal,
): Promise<LockEntry | undefined> {
  const { wanted } = readCommandLine(server);
  if (wanted === undefined) return undefined;
  await mkdir(places.folder, { recursive: true, mode: 0o700 });
  const draft = join(places.folder, `${draftStart}${randomUUID()}`);
  try {
    // Takes minutes at worst, in which others may change the lock.
    const entry = await fetchPackage(wanted, draft, { places, signal });
    await changeMcpLock(places.lock, async (before) => {
      await removeUnused(places.folder, before);
      await putInPlace(draft, join(places.folder, entry.sha256), entry.sha256);
      const known = { ...before.servers[server.name], package: entry };
      return { ...before, servers: { ...before.servers, [server.name]: known } };
    });
    return entry;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Forgets what was installed for a server, and removes what no other one has. */
export async function removeServer(name: string, places: ServerPackageFolders): Promise<void> {
  await changeMcpLock(places.lock, async (before) => {
    const { [name]: _, ...servers } = before.servers;
    const after = { ...before, servers };
    await removeUnused(places.folder, after);
    return after;
  });
}

/** Installs it if it was not, and refuses what has changed. Undefined where the server needs no package. */
export async function requireServer(
  server: StdioServer,
  places: ServerPackageFolders,
  { signal, installing }: { readonly signal: AbortSignal; readonly installing: () => void },
): Promise<Extract<PackageState, { state: "ok" }> | undefined> {
  const found = await checkServer(server, places);
  if (found.state === "ok") return found;
  if (found.state === "none") return undefined;
  if (found.state === "changed") {
    const message = `The MCP server ${server.name} is not started: ${found.reason}.`;
    throw new AppError("conflict", message, { fix: ownCommand(`mcp add ${server.name}`) });
  }
  installing();
  await installServer(server, places, signal);
  const installed = await checkServer(server, places);
  if (installed.state === "ok") return installed;
  throw new AppError("conflict", `The package of the MCP server ${server.name} has changed while it was installed.`);
}

function entryFor({ servers }: McpLock, name: string, wanted: WantedPackage): LockEntry | undefined {
  const entry = Object.hasOwn(servers, name) ? servers[name]?.package : undefined;
  return entry?.wanted === wanted.spec && entry.program === wanted.program ? entry : undefined;
}

async function fetchPackage(
  wanted: WantedPackage,
  draft: string,
  { places, signal }: { readonly places: ServerPackageFolders; readonly signal: AbortSignal | undefined },
): Promise<LockEntry> {
  const fetched = await fetchWithNpm(wanted, draft, { variables: places.variables, signal });
  await openForReading(draft);
  const { program, spec } = wanted;
  const { integrity, withScripts, ...names } = fetched;
  return {
    ...names,
    ...(withScripts.length > 0 && { withScripts: [...withScripts] }),
    ...(integrity !== undefined && { integrity }),
    ...(program !== undefined && { program }),
    wanted: spec,
    sha256: await hashOfPackage(draft),
    installedAt: new Date(places.now()).toISOString(),
  };
}

/** Moves a package into place; an equal one stays, as containers may run from it. */
async function putInPlace(draft: string, place: string, sha256: string): Promise<void> {
  if (existsSync(place) && (await hashOfPackage(place).catch(() => "")) === sha256) return;
  await rm(place, { recursive: true, force: true });
  await rename(draft, place);
}

/** Removes packages that no server uses, and abandoned drafts. A container keeps files that it has opened. */
async function removeUnused(folder: string, { servers }: McpLock): Promise<void> {
  const used = new Set(Object.values(servers).map((server) => server.package?.sha256));
  const names = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
  for (const name of names) {
    if (used.has(name) || (await isBegun(folder, name))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Longer than fetching may take. */
const draftMs = 900_000;

async function isBegun(folder: string, name: string): Promise<boolean> {
  if (!name.startsWith(draftStart)) return false;
  const stats = await lstat(join(folder, name)).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs < draftMs;
}
