import { foldName } from "../../lib/files/paths.ts";
import { bulkFolders, executionPointFolders, executionPointNames } from "./execution-point-names.ts";

/** An entry of a mounted folder, as far as it matters to programs that come across it. */
export interface MountedEntry {
  /** Below the mount. */
  readonly path: string;
  readonly isFolder?: boolean | undefined;
  /** A file that somebody may execute. */
  readonly isExecutable?: boolean | undefined;
  /** The first bytes of a file; two are enough. */
  readonly head?: Uint8Array | undefined;
  /** Target of a symbolic link, as it stands there. */
  readonly linkTarget?: string | undefined;
}

/** All kinds, those first of which a person should see the files first. */
export const executionPointKinds: readonly string[] = [
  "git-hook",
  "git-config",
  "repository",
  "git-folder",
  "link",
  ...Object.keys(executionPointNames).filter((kind) => kind !== "git-hook"),
  "executable",
  "script",
  "dot-file",
];

/** Folders of a repository that hold names of branches or contents, which look like anything. */
const gitData = new Set(["logs", "objects", "refs"]);

/** Files by which a repository says what to run and where it lies, and the folders in which they are. */
const gitFiles = new Set(["attributes", "commondir", "config", "config.worktree", "git-rebase-todo", "gitdir"]);
const gitFolders = new Set(["info", "rebase-merge", "sequencer"]);

const patterns = Object.entries(executionPointNames).map(([kind, globs]) => ({ kind, pattern: patternOf(globs) }));

/** Matches a folded name that one of the patterns means. */
export function patternOf(globs: readonly string[]): RegExp {
  const texts = globs.map((glob) => glob.replaceAll(/[.+$]/g, String.raw`\$&`).replaceAll("*", ".*"));
  return new RegExp(`^(?:${texts.join("|")})$`, "s");
}

/**
 * Tests of `find` that at least every execution point passes, joined by "or". `since`: seconds since 1970; of what has
 * changed from then on the first bytes count, too. Undefined: of nothing.
 */
export function executionPointTests(since: number | undefined): readonly (readonly string[])[] {
  const outside = ["!", "-path", "*/node_modules/*", "!", "-path", "*/.git/objects/*"];
  const globs = Object.values(executionPointNames).flat();
  const tests = [
    ["-name", ".*"],
    ["-path", "*/.*"],
    ...["HEAD", "objects", "refs", "commondir", "config*", "gitdir", "git-rebase-todo", "attributes"].map((name) => [
      "-name",
      name,
    ]),
    ["-path", "*/hooks/*"],
    ["-type", "l"],
    ["-type", "f", "-perm", "/111"],
    // Of any of these the first bytes count.
    ...(since === undefined ? [] : [["-type", "f", "-newerct", `@${since}`]]),
    ["-name", "*[!!-~]*"],
    // One expression is quicker than hundreds of names.
    [
      "-iregex",
      `.*/(${globs.map((glob) => glob.replaceAll(/[.+$]/g, String.raw`\$&`).replaceAll("*", "[^/]*")).join("|")})`,
    ],
  ];
  return tests.map((test) => [...outside, ...test]);
}

/**
 * Returns the kind of an entry that programs of the host's user, or the user in passing, run or are steered by: one of
 * `executionPointKinds`. Undefined for ordinary work and for what lies in `node_modules`. `repositories`: those of
 * `repositoriesIn`.
 */
export function executionPointKind(
  entry: MountedEntry,
  repositories: ReadonlySet<string> = new Set(),
): string | undefined {
  const names = entry.path.split("/").map(foldName);
  const above = names.slice(0, -1);
  if (above.includes("node_modules")) return undefined;
  if (leadsOut(entry)) return "link";
  const git = names.indexOf(".git");
  if (git >= 0) return gitKind(names.slice(git + 1));
  const named = repositoryKind(entry.path, repositories) ?? folderKind(names) ?? nameKind(entry, names.at(-1) ?? "");
  return named ?? dotKind(names) ?? fileKind(entry);
}

function dotKind(names: readonly string[]): string | undefined {
  if (names.slice(0, -1).some((name) => bulkFolders.has(name))) return undefined;
  return names.some((name) => name.startsWith(".")) ? "dot-file" : undefined;
}

function fileKind({ path, isFolder, isExecutable, head }: MountedEntry): string | undefined {
  if (isFolder === true || /(?:^|\/)hooks\/[^/]+\.sample$/.test(path)) return undefined;
  if (isExecutable === true) return "executable";
  return head?.[0] === 0x23 && head[1] === 0x21 ? "script" : undefined;
}

/** Folders that Git takes for repositories although they are not called `.git`; the empty path is the mount itself. */
export function repositoriesIn(paths: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of paths) {
    if (!/(?:^|\/)HEAD$/.test(path)) continue;
    const folder = path.slice(0, Math.max(0, path.length - "/HEAD".length));
    const holds = (name: string): boolean => paths.has(folder === "" ? name : `${folder}/${name}`);
    const isRepository = (holds("objects") && holds("refs")) || holds("commondir");
    if (isRepository && !/(?:^|\/)\.git(?:\/|$)/i.test(folder)) found.add(folder);
  }
  return found;
}

/** A link by which programs that work in the folder reach what lies elsewhere. */
function leadsOut({ path, linkTarget }: MountedEntry): boolean {
  if (linkTarget === undefined) return false;
  if (linkTarget.startsWith("/")) return true;
  let depth = path.split("/").length - 1;
  for (const name of linkTarget.split("/")) {
    if (name === "..") depth -= 1;
    else if (name !== "." && name !== "") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function nameKind({ isFolder }: MountedEntry, name: string): string | undefined {
  return isFolder === true ? undefined : patterns.find(({ pattern }) => pattern.test(name))?.kind;
}

/** By the innermost folder that programs read wholly. */
function folderKind(names: readonly string[]): string | undefined {
  const name = names.findLast((folder) => Object.hasOwn(executionPointFolders, folder));
  return name === undefined ? undefined : executionPointFolders[name];
}

function repositoryKind(path: string, repositories: ReadonlySet<string>): string | undefined {
  if (repositories.size === 0) return undefined;
  const names = path.split("/");
  for (let depth = names.length; depth >= 0; depth -= 1) {
    if (!repositories.has(names.slice(0, depth).join("/"))) continue;
    return depth === names.length ? "repository" : gitKind(names.slice(depth).map(foldName));
  }
  return undefined;
}

/** `inside`: names below the repository's folder. */
function gitKind(inside: readonly string[]): string | undefined {
  const last = inside.at(-1);
  // The repository itself, or a file that says where it is.
  if (last === undefined) return "git-folder";
  const [top = ""] = inside;
  const isNested = top === "modules" || top === "worktrees";
  if (inside.some((name) => gitData.has(name))) return undefined;
  if (isNested ? inside.includes("hooks") : top === "hooks") return last.endsWith(".sample") ? undefined : "git-hook";
  const isAtPlace = inside.length === 1 || isNested || gitFolders.has(top);
  return isAtPlace && gitFiles.has(last) ? "git-config" : undefined;
}
