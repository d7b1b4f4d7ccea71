import type { Turn } from "../../domain/turns/turn.ts";
import type { SideSessions } from "../../work/sessions/side-sessions.ts";
import type { TurnRunner } from "../../turns/turn-runner.ts";
import type { AppContext } from "../context.ts";

/** Who has to know that the store has ended a turn. */
export interface TurnEndedOptions {
  readonly runner: Pick<TurnRunner, "cancel">;
  readonly sideSessions: Pick<SideSessions, "settled">;
  readonly subAgents: { turnsEnded(): void };
  readonly turnEnded: (turn: Pick<Turn, "id" | "cause">) => void;
}

/** The runner puts the end of a turn on record that it works on; for others it is done here. */
export function createTurnEnded(
  { clock, publish }: AppContext,
  { runner, sideSessions, subAgents, turnEnded }: TurnEndedOptions,
): (turn: Turn, reason: string) => Promise<void> {
  return async (turn, reason) => {
    if (runner.cancel(turn, reason)) return;
    const elapsedMs = clock.now() - turn.startedAt;
    const { id, group, session } = turn;
    const data = { state: "cancelled", reason, elapsedMs, times: {} } as const;
    await publish({ type: "turn.ended", group, session, turn: id, actor: "host", data });
    turnEnded(turn);
    sideSessions.settled({ id: session, ephemeral: true });
    subAgents.turnsEnded();
  };
}
