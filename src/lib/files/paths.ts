import { hiddenCharacter, unseenCharacter } from "../text/hidden-characters.ts";

/**
 * Whether `path` is `folder` or lies below it, by whole components. Both absolute and free of `.`, `..` and double
 * slashes.
 */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** The names a path is made of. */
export function components(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}

/**
 * The form in which names are compared: two names that a case-insensitive or Unicode-folding file system could take for
 * the same one become equal (`.SSH`, a decomposed accent, an invisible character inside).
 */
export function foldName(name: string): string {
  if (/^[\x21-\x7e]*$/.test(name)) return name.toLowerCase();
  return name.replaceAll(unseenCharacter, "").normalize("NFKC").toLowerCase();
}

/**
 * `~` and `~/…` become the home folder of the host's user; absolute paths stay as they are, `..` included, because only
 * the kernel knows where `..` leads behind a link. Anything else (relative, `~somebody`) is undefined.
 */
export function expandHome(path: string, homeFolder: string): string | undefined {
  if (path === "~") return homeFolder;
  if (path.startsWith("~/")) return `${homeFolder}/${path.slice(2)}`;
  return path.startsWith("/") ? path : undefined;
}

/** Characters that could forge a line of a log or hide in a path: controls, invisible and unpaired ones. */
export function hasHiddenCharacters(text: string): boolean {
  return text.search(hiddenCharacter) !== -1;
}

/** A path as one word of a shell command. */
export function shellQuoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Returns the paths that lie in none of the others, each once, sorted. The empty path is a folder around all. */
export function outermostOf(paths: Iterable<string>): string[] {
  const all = new Set(paths);
  const isInside = (path: string): boolean =>
    path !== "" && path.split("/").some((_, index, names) => all.has(names.slice(0, index).join("/")));
  return [...all].filter((path) => !isInside(path)).toSorted();
}
