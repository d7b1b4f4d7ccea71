import { stateOf } from "./entry-facts.ts";
import type { FoundChange } from "./compare-layer.ts";

/** The kernel's clock for files lags behind by up to this; in milliseconds. */
export const clockLagMs = 25;

/** State of an entry that somebody else may have changed at the same time. */
const unknown = "unknown";
/** State of an entry that was put into a folder which the layer hides: it is no change of the agent's. */
const foreign = "foreign";

/** A change with its history. */
export interface KnownChange extends FoundChange {
  readonly isConflict: boolean;
}

/**
 * Compares changes with the real entries as they were when each change was first seen. An entry that has another state
 * by now was changed by others; so, perhaps, was one that changed after `since`, the last look that found no change of
 * it. Returns the changes that are the agent's, and the states to keep.
 */
export function withHistory(
  changes: readonly FoundChange[],
  { bases, since }: { readonly bases: Readonly<Record<string, string>>; readonly since: number },
): { readonly changes: readonly KnownChange[]; readonly bases: Record<string, string> } {
  const kept: Record<string, string> = Object.create(null) as Record<string, string>;
  const known: KnownChange[] = [];
  for (const change of changes) {
    const now = stateOf(change.before);
    const base = Object.hasOwn(bases, change.key) ? bases[change.key] : undefined;
    const isNew = base === undefined && isYoung(change, since);
    if (change.isHidden && (base === foreign || isNew)) {
      kept[change.key] = foreign;
      continue;
    }
    const state = base ?? (isNew ? unknown : now);
    kept[change.key] = state;
    known.push({ ...change, isConflict: state !== now });
  }
  return { changes: known, bases: kept };
}

/** A folder changes with everything that is put into it, which counts by itself. */
function isYoung({ before }: FoundChange, since: number): boolean {
  return before !== undefined && before.entry !== "folder" && before.changedAt + clockLagMs >= since;
}
