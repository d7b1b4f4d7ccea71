import { openEntry, openFolder } from "./open-below.ts";

/** A file or folder in a writable mount that is mounted once more, read-only. */
export interface ProtectedPath {
  /** Below the mount. */
  readonly path: string;
  readonly realPath: string;
  readonly device: string;
  readonly inode: string;
}

/**
 * Looks for paths in a folder, relative to an open descriptor and without following links. Missing paths, non-files and
 * paths behind a link or a file cannot be protected; `remark` says so in a sentence.
 */
export async function findProtected(
  folder: string,
  wanted: readonly string[],
): Promise<{ readonly paths: readonly ProtectedPath[]; readonly remark: string }> {
  const paths: ProtectedPath[] = [];
  const faults = new Set<string>();
  for (const path of wanted) {
    const found = await identifyBelow(folder, path);
    if (typeof found === "string") faults.add(found);
    else if (found !== undefined) paths.push(found);
  }
  const kept = paths.length === 0 ? "" : ` Read-only in it: ${paths.map(({ path }) => path).join(", ")}.`;
  const left = faults.size === 0 ? "" : ` Not protected: ${[...faults].join("; ")}.`;
  return { paths, remark: kept + left };
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
