import type { Turn } from "../../domain/turns/turn.ts";
import type { PublishTurn } from "../collaborators.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ActiveTurns } from "../active-turns.ts";

/** Parts that are told when the store has ended a turn. */
export interface TurnEndedOptions {
  readonly active: Pick<ActiveTurns, "cancel">;
  readonly sideSessions: { settled(session: { readonly id: string; readonly ephemeral: true }): void };
  readonly turnEnded: (turn: Pick<Turn, "id" | "cause">) => void;
}

/** The runner puts the end of a turn on record that it works on; for others it is done here. */
export function createTurnEnded(
  { clock, publish }: { readonly clock: Pick<Clock, "now">; readonly publish: PublishTurn },
  { active, sideSessions, turnEnded }: TurnEndedOptions,
): (turn: Turn, reason: string) => Promise<void> {
  return async (turn, reason) => {
    if (active.cancel(turn, reason)) return;
    const elapsedMs = clock.now() - turn.startedAt;
    const { id, group, session } = turn;
    const data = { state: "cancelled", reason, elapsedMs, times: {} } as const;
    await publish({ type: "turn.ended", group, session, turn: id, actor: "host", data });
    turnEnded(turn);
    sideSessions.settled({ id: session, ephemeral: true });
  };
}
