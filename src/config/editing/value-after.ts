import type { SettingEdit, SettingPath } from "../../domain/settings/setting.ts";
import { AppError } from "../../lib/app-error.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { formatPath } from "../faults.ts";

type Container = Record<string | number, unknown>;

/**
 * Returns a configuration after an edit, leaving the original unchanged and creating missing sections. Throws
 * `not_found` when there is nothing to remove, `bad_input` when the path leads through a plain value.
 */
export function valueAfter(before: unknown, { path, value }: SettingEdit): unknown {
  const root: unknown = copyOf(before ?? {});
  return value === undefined ? remove(root, path) : put(root, path, value);
}

/** Copies a value; aliased values become independent. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)]));
}

function put(root: unknown, path: SettingPath, value: unknown): unknown {
  let at = root as Container;
  for (const [depth, key] of path.entries()) {
    requirePlace(at, path, depth);
    if (depth === path.length - 1) at[key] = copyOf(value);
    else at[key] ??= {};
    at = at[key] as Container;
  }
  return root;
}

function remove(root: unknown, path: SettingPath): unknown {
  const parent = valueAt(root, path.slice(0, -1));
  const key = path.at(-1) ?? "";
  if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, key)) throw notSet(root, path);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete (parent as Container)[key];
  return root;
}

/** Value at a path; undefined when missing. */
export function valueAt(root: unknown, path: SettingPath): unknown {
  let at = root;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Container)[key];
  }
  return at;
}

function requirePlace(at: unknown, path: SettingPath, depth: number): void {
  const key = path[depth];
  const name = formatPath(path.slice(0, depth));
  if (typeof at !== "object" || at === null) throw noPlace(`${name} is a value and has no keys.`);
  if (!Array.isArray(at)) {
    if (typeof key === "number") throw noPlace(`${name} is not a list.`);
    return;
  }
  if (typeof key !== "number") throw noPlace(`${name} is a list; write ${name}[0] for its first entry.`);
  if (key > at.length) throw noPlace(`${name} has ${at.length} entries; the next one is ${name}[${at.length}].`);
}

function noPlace(message: string): AppError {
  return new AppError("bad_input", message);
}

function notSet(root: unknown, path: SettingPath): AppError {
  const holder = valueAt(root, path.slice(0, -1));
  const known = typeof holder === "object" && holder !== null ? Object.keys(holder) : [];
  const near = nearest(String(path.at(-1)), known);
  const hint = near === undefined ? "" : ` Did you mean ${formatPath([...path.slice(0, -1), near])}?`;
  return new AppError("not_found", `${formatPath(path)} is not set, so there is nothing to remove.${hint}`);
}
