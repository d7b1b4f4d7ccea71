import type { Rest } from "./turn-pace.ts";

/** Notice for a chat in which the agent pauses. */
export function restingNotice({ limit, allowed, ms }: Pick<Rest, "limit" | "allowed" | "ms">): string {
  const pause = describeMinutes(ms);
  return limit === "loop"
    ? `I was called ${allowed} times in a row without a pause, which looks like programs answering each other. I pause for ${pause} and only read messages; a message from anybody else ends the pause.`
    : `I was called ${allowed} times within an hour, which is the limit. I pause for ${pause} and only read messages; ask me afterwards, and I will know what was said.`;
}

/** For `/status`. */
export function describeRest({ limit, ms }: Pick<Rest, "limit" | "ms">): string {
  const why = limit === "loop" ? "programs seem to answer each other here" : "too many turns within an hour";
  return `Not answering for another ${describeMinutes(ms)}: ${why}.`;
}

function describeMinutes(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / 60_000));
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}
