import type { ContainerExit } from "../engine/engine.ts";
import type { LimitCounters, LimitHit } from "../../domain/turns/limit.ts";

/** Returns the limits enforced between two looks at a container. */
export function hitsBetween(before: LimitCounters, now: LimitCounters): LimitHit[] {
  const kills = now.memoryKills - before.memoryKills;
  const refused = now.refusedProcesses - before.refusedProcesses;
  const hits: LimitHit[] = [];
  if (kills > 0) {
    const text = `The container's memory was used up: ${kills === 1 ? "a process" : `${kills} processes`} had to be ended.`;
    hits.push({ limit: "memory", value: kills, text });
  }
  if (refused > 0) {
    const text = "The container had as many processes as it may have: starting another one was refused.";
    hits.push({ limit: "processes", value: refused, text });
  }
  return hits;
}

/**
 * Describes an unexpected end of a container. Names a limit only when the engine reports it: not every kill is for lack
 * of memory, and people should not be told a guess.
 */
export function describeExit(exit: ContainerExit): { readonly reason: string; readonly hit: LimitHit | undefined } {
  if (exit.oomKilled) {
    const reason = "it ran out of memory";
    return { reason, hit: { limit: "memory", value: 1, text: "The container ran out of memory and was ended." } };
  }
  const guess = exit.code === 137 ? " (killed, perhaps for lack of memory)" : "";
  return { reason: `it ended with exit code ${exit.code}${guess}`, hit: undefined };
}
