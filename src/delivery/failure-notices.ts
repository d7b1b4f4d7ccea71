import type { Group } from "../domain/chats/group.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { TellOperator } from "./operator-notices.ts";
import { ownCommand } from "../lib/process/own-command.ts";

/** Delay before the operator is told about the same failure again. */
const quietMs = 3_600_000;

/** A turn that failed for a reason that concerns the operator. */
export interface FailedTurn {
  readonly group: Pick<Group, "name" | "model">;
  readonly turn: string;
  readonly failure: string;
  /** In one plain line. */
  readonly detail: string;
}

interface FailureNoticesOptions {
  readonly tell: TellOperator;
  readonly groups: { list(): readonly Pick<Group, "main">[] };
  readonly clock: Pick<Clock, "now">;
}

/**
 * Tells the operator in a main group why turns of other groups fail: once an hour for each failure of a group, and for
 * a model that cannot be reached once for all groups that use it. False where there is no main group.
 */
export function createFailureNotices({ tell, groups, clock }: FailureNoticesOptions): (failed: FailedTurn) => boolean {
  const toldAt = new Map<string, number>();
  return ({ group, turn, failure, detail }) => {
    if (!groups.list().some(({ main }) => main)) return false;
    const key = JSON.stringify([failure, failure === "model_unavailable" ? (group.model ?? null) : group.name]);
    const now = clock.now();
    if (now - (toldAt.get(key) ?? -Infinity) < quietMs) return true;
    for (const [old, at] of toldAt) if (now - at >= quietMs) toldAt.delete(old);
    toldAt.set(key, now);
    tell({
      text: `A turn of group ${group.name} failed: ${detail} Members were told without the details. More: ${ownCommand(`turns show ${turn}`)}. The same is told at most once an hour.`,
    });
    return true;
  };
}
