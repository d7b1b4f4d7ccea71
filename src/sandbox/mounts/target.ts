import { hasHiddenCharacters, isWithin } from "../../lib/files/paths.ts";

/** Longest target, so that the path in the container and its name in messages stay readable. */
const maxTargetChars = 200;

/**
 * Returns why this is no valid folder below `/workspace/extra`, as the end of a sentence; undefined when valid. Targets
 * are plain names joined by single slashes; they must neither repeat a `taken` one nor lie above or below it.
 */
export function targetFault(target: string, taken: readonly string[]): string | undefined {
  return textFault(target) ?? firstFault(target.split("/")) ?? overlap(target, taken);
}

function textFault(target: string): string | undefined {
  if (target.trim() === "") return "the target is empty";
  if (target.length > maxTargetChars) return `the target is longer than ${maxTargetChars} characters`;
  if (hasHiddenCharacters(target)) return "the target has control or invisible characters";
  if (target.startsWith("/")) return "the target must be relative to /workspace/extra";
  return /[:,\\]/.test(target) ? "the target must not have a colon, a comma or a backslash" : undefined;
}

function firstFault(names: readonly string[]): string | undefined {
  if (names.includes("")) return "the target has an empty part (a double slash or one at the end)";
  if (names.includes(".") || names.includes("..")) return "the target must not have a part . or ..";
  return names.some((name) => name.trim() !== name) ? "a part of the target begins or ends with a blank" : undefined;
}

function overlap(target: string, taken: readonly string[]): string | undefined {
  if (taken.includes(target)) return `the target ${target} is already taken by an earlier mount`;
  const nested = taken.find((other) => isWithin(target, other) || isWithin(other, target));
  return nested === undefined ? undefined : `the target overlaps with ${nested} of an earlier mount`;
}
