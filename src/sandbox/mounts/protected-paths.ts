import type { Access, Protection } from "../../domain/chats/group.ts";
import { AppError } from "../../lib/app-error.ts";
import { foldName, hasHiddenCharacters, outermostOf } from "../../lib/files/paths.ts";
import { executionPointKind, executionPointTests, patternOf, repositoriesIn } from "./execution-points.ts";
import { protectedNames } from "./execution-point-names.ts";
import type { FoundEntry } from "./find-entries.ts";
import { openEntry, openFolder } from "./open-below.ts";

/** A file or folder in a writable mount that is mounted once more, read-only. */
export interface ProtectedPath {
  /** Below the mount. */
  readonly path: string;
  readonly realPath: string;
  readonly device: string;
  readonly inode: string;
}

/** Each is a separate mount; a folder with more is refused. */
const mostProtected = 256;

/** Parts by which Git takes a folder of any name for a repository. */
const repositoryParts = ["HEAD", "objects", "refs", "commondir"];
/** Parts of a repository that Git obeys or runs. Where the mount is one itself, all else stays open for pushes. */
const repositoryControls = ["commondir", "config", "config.worktree", "gitdir", "hooks", "info"];

const standard = protectedNames.map((name) => patternOf([name]));

/** Tests of `find` that at least everything protected passes, joined by "or". */
export function protectedTests(protection: Protection): readonly (readonly string[])[] {
  if (protection === "none") return [];
  if (protection === "strict") return executionPointTests(undefined);
  const names = protectedNames.map((name) => ["-iname", name.slice(name.lastIndexOf("/") + 1)]);
  // Only folding tells what names beyond plain characters mean.
  return [...names, ...repositoryParts.map((name) => ["-name", name]), ["-name", "*[!!-~]*"]];
}

/** Returns the paths among the entries of a folder that its protection keeps read-only, without what lies in others. */
export function protectedAmong(entries: readonly FoundEntry[], protection: Protection): readonly string[] {
  if (protection === "none") return [];
  // No other names can be told to the engine.
  const plain = entries.map((entry) => ({ ...entry, path: entry.path.toString("utf8") })).filter(isPlain);
  const repositories = repositoriesIn(new Set(plain.map(({ path }) => path)));
  const isWanted = protection === "strict" ? isExecutionPoint : isStandard;
  const wanted = plain.filter((entry) => isWanted(entry, repositories)).map(({ path }) => path);
  const more = typeof protection === "string" ? [] : protection;
  const ofGit = [...repositories].flatMap((folder) => (folder === "" ? repositoryControls : [folder]));
  return outermostOf([...wanted, ...ofGit, ...more]);
}

type NamedEntry = Omit<FoundEntry, "path"> & { readonly path: string };

function isPlain({ path }: NamedEntry): boolean {
  return !path.includes("\u{FFFD}") && !hasHiddenCharacters(path);
}

function isStandard({ path }: NamedEntry): boolean {
  const names = path.split("/").map(foldName);
  if (names.slice(0, -1).includes("node_modules")) return false;
  return standard.some((pattern) => pattern.test(names.at(-1) ?? "") || pattern.test(names.slice(-2).join("/")));
}

function isExecutionPoint({ path, type, mode, linkTarget }: NamedEntry, repositories: ReadonlySet<string>): boolean {
  const isExecutable = type === "f" && (mode & 0o111) !== 0;
  const link = type === "l" ? { linkTarget: linkTarget.toString("utf8") } : {};
  return executionPointKind({ path, isFolder: type === "d", isExecutable, ...link }, repositories) !== undefined;
}

/**
 * Looks for paths in a folder, relative to an open descriptor and without following links. Missing paths, non-files and
 * paths behind a link or a file cannot be protected; `faults` says of existing ones why, such as `.git is a link`.
 */
export async function findProtected(
  folder: string,
  wanted: readonly string[],
): Promise<{ readonly paths: readonly ProtectedPath[]; readonly faults: readonly string[] }> {
  const paths: ProtectedPath[] = [];
  const faults = new Set<string>();
  for (const path of wanted) {
    const found = await identifyBelow(folder, path);
    if (typeof found === "string") faults.add(found);
    else if (found !== undefined) paths.push(found);
  }
  return { paths, faults: [...faults] };
}

/**
 * Chooses what stays read-only in a writable folder. `isOpen`: nothing covers the path. `remark`: sentences about it,
 * each after a blank. Throws `mount_denied` when it is too much to be mounted.
 */
export async function keepReadOnly(
  { realPath, verdict }: { readonly realPath: string; readonly verdict: Access },
  {
    entries,
    protection,
    isOpen,
  }: {
    readonly entries: readonly FoundEntry[];
    readonly protection: Protection;
    readonly isOpen: (path: string) => boolean;
  },
): Promise<{ readonly protect: readonly ProtectedPath[]; readonly remark: string }> {
  if (protection === "none") return { protect: [], remark: verdict === "rw" ? " Nothing in it is protected." : "" };
  const wanted = protectedAmong(entries, protection).filter(isOpen);
  const { paths, faults } = await findProtected(realPath, wanted);
  if (paths.length > mostProtected && verdict === "rw") {
    const what = `${paths.length} repositories and folders of tools, and at most ${mostProtected} can be protected`;
    throw new AppError("mount_denied", `it contains ${what}; mount a narrower folder, or write access: review`);
  }
  // With review, changes of the others wait for people.
  const protect = paths.slice(0, mostProtected);
  return { protect, remark: remarkOn(protect, faults) };
}

function remarkOn(protect: readonly ProtectedPath[], faults: readonly string[]): string {
  const kept =
    protect.length === 0
      ? ""
      : ` Read-only in it: ${named(
          protect.map(({ path }) => path),
          ", ",
        )}.`;
  return kept + (faults.length === 0 ? "" : ` Not protected: ${named(faults, "; ")}.`);
}

/** Maximum names in a message. */
const mostNamed = 8;

function named(names: readonly string[], separator: string): string {
  const more = names.length - mostNamed;
  return names.slice(0, mostNamed).join(separator) + (more > 0 ? ` and ${more} more` : "");
}

/** Undefined, or a sentence that says what has changed about a protected path since it was judged. */
export async function recheckProtected(folder: string, judged: ProtectedPath): Promise<string | undefined> {
  const now = await identifyBelow(folder, judged.path).catch((error: unknown) => String(error));
  if (typeof now === "object" && now.device === judged.device && now.inode === judged.inode) return undefined;
  return `The protected ${judged.realPath} has been moved or replaced since it was judged.`;
}

/** Undefined when there is none; a reason when it cannot be mounted. */
async function identifyBelow(folder: string, path: string): Promise<ProtectedPath | string | undefined> {
  const names = path.split("/");
  let above = await openFolder(folder);
  try {
    for (const [index, name] of names.entries()) {
      const entry = await openEntry(above, name);
      if (entry === undefined) return undefined;
      await above.close();
      above = entry;
      const facts = await entry.stat({ bigint: true });
      const isLast = index === names.length - 1;
      if (isLast && (facts.isFile() || facts.isDirectory())) {
        return { path, realPath: `${folder}/${path}`, device: String(facts.dev), inode: String(facts.ino) };
      }
      const seen = names.slice(0, index + 1).join("/");
      if (!facts.isDirectory()) return `${seen} is ${facts.isSymbolicLink() ? "a link" : "no folder"}`;
    }
    return undefined;
  } finally {
    await above.close();
  }
}
