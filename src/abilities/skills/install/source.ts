import { existsSync, lstatSync } from "node:fs";
import { resolve } from "node:path";

import { AppError } from "../../../lib/app-error.ts";

/** From where skills can be had. */
export type SourceKind = "folder" | "archive" | "git" | "npm";

export interface Source {
  readonly kind: SourceKind;
  /** Source as in `skills.lock`: an absolute path for a folder or archive. */
  readonly from: string;
}

const npmName = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*(?:@[\w.^~*-]+)?$/i;
const gitAddress = /^(?:git\+)?(?:https?|ssh|git|file):\/\/\S+$|^[\w.-]+@[\w.-]+:\S+$/;
const npmPrefix = "npm:";

/** Parses a source. Throws `skill_refused` for nonsense, `not_found` for a missing path. */
export function sourceOf(wanted: string): Source {
  if (wanted.startsWith(npmPrefix)) return npmSource(wanted.slice(npmPrefix.length), wanted);
  if (gitAddress.test(wanted)) return { kind: "git", from: wanted };
  const path = resolve(wanted);
  if (existsSync(path)) {
    const isFolder = lstatSync(path).isDirectory();
    if (isFolder) return { kind: "folder", from: path };
    if (/\.(?:tar\.gz|tgz)$/.test(path)) return { kind: "archive", from: path };
    throw refused(`${JSON.stringify(wanted)} cannot be installed: it is neither a folder nor a .tar.gz.`);
  }
  if (/^[./~]|\.(?:tar\.gz|tgz)$/.test(wanted))
    throw new AppError("not_found", `${JSON.stringify(wanted)} cannot be installed: there is no such file or folder.`);
  return npmSource(wanted, wanted);
}

/** The package that a source of kind npm stands for. */
export function packageOf({ from }: Source): string {
  return from.slice(npmPrefix.length);
}

/** True for a source that others publish, rather than a path on this machine. */
export function isPublished(from: string): boolean {
  return from.startsWith(npmPrefix) || gitAddress.test(from);
}

function npmSource(name: string, wanted: string): Source {
  if (!npmName.test(name))
    throw refused(
      `${JSON.stringify(wanted)} cannot be installed: it is no folder, archive, git address or npm package.`,
    );
  return { kind: "npm", from: `${npmPrefix}${name}` };
}

function refused(what: string): AppError {
  return new AppError("skill_refused", what, {
    fix: "Give a folder, a .tar.gz, an npm package (npm:NAME) or the address of a git repository (https://….git).",
  });
}
