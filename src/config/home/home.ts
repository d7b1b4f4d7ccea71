import { randomBytes } from "node:crypto";
import { chmod, link, lstat, mkdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { AppError, errorCode, nothingIfMissing } from "../../lib/app-error.ts";
import { folderFault, octal } from "../trust.ts";
import { type HomeState, homeState } from "./own-folder.ts";

/** The files and folders of a home (`CRABPOT_HOME`). */
const placesInHome = {
  config: "config.yaml",
  mounts: "mounts.json",
  database: "crabpot.sqlite",
  sessions: "sessions",
  groups: "groups",
  /** Shown read-only to every agent. */
  global: "global",
  /** Profiles of agents. */
  agents: "agents",
  /** The operator's own sections of the system prompt, in place of those that come with crabpot. */
  prompts: "prompts",
  audit: "audit",
  keys: "keys",
  /** Sockets of the groups that have a way out. */
  egress: "egress",
  /** Changes of agents in mounts with review, by group; made at first need. */
  reviews: "reviews",
  /** Files of members on their way to a group's folder. */
  incoming: "incoming",
  /** Copies of the files that agents send. */
  outgoing: "outgoing",
  /** The protected files of groups that are in use, as they are mounted into containers. */
  instructions: "instructions",
  /** Contents that steps refer to, by their SHA-256. */
  blobs: "blobs",
  /** Files of strangers while they are read; made at first need. */
  media: "media",
  /** Installed skills. */
  skills: "skills",
  /** Which skills are installed, each with the hash of its files. */
  skillLock: "skills.lock",
  /** When the sources of skills are asked next, and what they had. */
  skillSync: "skill-sync.json",
  /** Which skills are for which kind of task. */
  skillMapping: "skill_mapping.yaml",
  /** Skills that agents have written and people have allowed, by group. */
  groupSkills: "group-skills",
  /** Copies of the skills that are in use, as they are mounted into containers. */
  skillCopies: "skill-copies",
  /** Installed plugins, a folder for each. */
  plugins: "plugins",
  /** Which plugins are installed, each with the hash of its files. */
  pluginLock: "plugins.lock",
  /** Models that run on this machine; made when one is installed. */
  models: "models",
  /** Folder of memories, one file per group. */
  memory: "memory",
  /** Packages of MCP servers, and what the servers keep. */
  mcp: "mcp",
  /** Which packages are installed for MCP servers, each with the hash of its files. */
  mcpLock: "mcp.lock",
  /** Logins at MCP servers that ask for one. */
  mcpLogins: "mcp-logins",
  logs: "logs",
  hostLog: "logs/host.log",
  controlSocket: "control.sock",
  /** Whoever can read it is answered on the control socket. */
  controlKey: "control.key",
  instance: "instance",
  /** Record of the home's last path. */
  place: "place.json",
} as const;

/** Paths in a home: its root, and each of its files and folders. */
export type HomePaths = Readonly<Record<keyof typeof placesInHome | "root", string>>;

export function homePaths(root: string): HomePaths {
  const places = Object.entries(placesInHome).map(([name, place]) => [name, join(root, place)]);
  return { ...(Object.fromEntries(places) as HomePaths), root };
}

/** Looks at a folder before it is used as a home. Throws `setup_required` when it has another purpose. */
export function lookAtHome(root: string): Promise<HomeState> {
  return homeState(root, Object.values(placesInHome));
}

/** A home that is safe to keep secrets in. */
export interface Home {
  readonly paths: HomePaths;
  /**
   * Random, made once per home, 16 hex digits: tells our containers from those of another home. A copy gets another
   * one: `settleHome`.
   */
  readonly instance: string;
}

const wantedInstance = /^[0-9a-f]{16}$/;

/**
 * Creates missing folders (0700) and removes others' read rights. Follows a symbolic link once: all paths are of the
 * real folder. Throws `setup_required` for a home that others can write to or own, and for a folder with another
 * purpose.
 */
export async function prepareHome(wanted: string): Promise<Home & { readonly isNew: boolean }> {
  const state = await lookAtHome(wanted);
  await mkdir(wanted, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new AppError("setup_required", `The home folder ${wanted} cannot be made.`, {
      cause,
      fix: "Set CRABPOT_HOME to a folder that you may write to.",
    });
  });
  const root = await realpath(wanted);
  const fault = await folderFault(root, { parents: true });
  if (fault !== undefined) throw new AppError("setup_required", fault.detail, { fix: fault.fix });
  if (state === "new") await requirePrivate(root);
  const paths = homePaths(root);
  await chmod(root, 0o700);
  const { sessions, groups, audit, keys, egress, incoming, outgoing, instructions, blobs, logs } = paths;
  for (const folder of [sessions, groups, audit, keys, egress, incoming, outgoing, instructions, blobs, logs]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await requireRealFolder(folder);
    await chmod(folder, 0o700);
  }
  for (const file of [paths.config, paths.mounts]) await hideFromOthers(file);
  return { paths, instance: await readOrMakeInstance(paths.instance), isNew: state !== "home" };
}

/**
 * The id of a home that was prepared before; undefined for one that was not. Throws `setup_required` when it is spoilt.
 */
export async function readInstance(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(nothingIfMissing);
  if (text === undefined || wantedInstance.test(text.trim())) return text?.trim();
  throw new AppError("setup_required", `${file} should hold the id of this home (16 hex digits) and does not.`, {
    fix: `Put the id back, or remove ${file}: containers of the old id are then no longer recognised.`,
  });
}

/** Rights of a folder that somebody else made are theirs to change. */
async function requirePrivate(root: string): Promise<void> {
  const { mode } = await lstat(root);
  if ((mode & 0o077) === 0) return;
  throw new AppError("setup_required", `${root} can be read by other users (mode ${octal(mode)}).`, {
    fix: `chmod 700 ${root}`,
  });
}

/** A link in place of one of our folders would lead what we write to somewhere else. */
export async function requireRealFolder(folder: string): Promise<void> {
  const found = await lstat(folder);
  if (found.isDirectory()) return;
  throw new AppError("setup_required", `${folder} is not a real folder (it is a link or a file).`, {
    fix: `Move it away: mv ${folder} ${folder}.old`,
  });
}

async function hideFromOthers(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  const readable = found?.isFile() === true && (found.mode & 0o044) !== 0 && (found.mode & 0o022) === 0;
  if (readable && found.uid === process.geteuid?.()) await chmod(file, 0o600);
}

async function readOrMakeInstance(file: string): Promise<string> {
  const known = await readInstance(file);
  if (known !== undefined) return known;
  // Written beside its place and linked into it: two first starts at once agree on one id.
  const draft = `${file}.${randomBytes(4).toString("hex")}`;
  const made = randomBytes(8).toString("hex");
  await writeFile(draft, `${made}\n`, { mode: 0o600, flag: "wx" });
  try {
    await link(draft, file);
    return made;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    return await readOrMakeInstance(file);
  } finally {
    await rm(draft);
  }
}
