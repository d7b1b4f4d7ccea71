import { isWithin } from "./paths.ts";

/** One line of a `/proc/<pid>/mountinfo`. */
export interface MountPoint {
  /** `major:minor` of the file system. */
  readonly device: string;
  /** The folder of that file system that is shown. */
  readonly root: string;
  /** Mount point. */
  readonly target: string;
  readonly options: readonly string[];
  readonly type: string;
  readonly superOptions: readonly string[];
}

/** Reads the text of a mountinfo file; lines that are not of its form are left out. */
export function parseMountInfo(text: string): MountPoint[] {
  return text.split("\n").flatMap((line) => {
    const [front, back] = line.split(" - ");
    const [, , device, root, target, options] = front?.split(" ") ?? [];
    const [type, , superOptions] = back?.split(" ") ?? [];
    if (device === undefined || root === undefined || target === undefined) return [];
    if (options === undefined || type === undefined) return [];
    return {
      device,
      root: unescape(root),
      target: unescape(target),
      options: options.split(","),
      type,
      superOptions: (superOptions ?? "").split(","),
    };
  });
}

/** Blanks, tabs, line ends and backslashes are written as `\` and three octal digits. */
function unescape(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));
}

/** The mount that shows `path`: the deepest one, and of several at the same place the last. */
export function mountOf(path: string, mounts: readonly MountPoint[]): MountPoint | undefined {
  let found: MountPoint | undefined;
  for (const mount of mounts) {
    if (!isWithin(path, mount.target)) continue;
    if (found === undefined || mount.target.length >= found.target.length) found = mount;
  }
  return found;
}

/**
 * Other paths at which the same folder can be seen, because its file system or a part of it is mounted several times.
 */
export function otherPathsOf(path: string, mounts: readonly MountPoint[]): string[] {
  const own = mountOf(path, mounts);
  if (own === undefined) return [];
  const inside = join(own.root, below(path, own.target));
  return mounts
    .filter((mount) => mount !== own && mount.device === own.device && isWithin(inside, mount.root))
    .map((mount) => join(mount.target, below(inside, mount.root)));
}

function below(path: string, folder: string): string {
  return path.slice(folder === "/" ? 1 : folder.length + 1);
}

function join(folder: string, rest: string): string {
  if (rest === "") return folder;
  return folder === "/" ? `/${rest}` : `${folder}/${rest}`;
}
