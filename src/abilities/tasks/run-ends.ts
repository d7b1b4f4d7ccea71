import type { OutgoingDraft } from "../../domain/chats/message.ts";
import { backoffMs } from "../../lib/time/backoff.ts";
import { plainSentence, quotedName } from "../../lib/text/plain-words.ts";
import type { EndedRun, RunSettlement } from "../../stores/contract/task-store.ts";

const backoff = { firstMs: 30_000, longestMs: 3_600_000 };
/** Failures in a row after which the group is told, and after which the task is paused. */
const toldAfter = 2;
const pausedAfter = 10;

/** Settles a run whose turn has ended or whose work was dropped. `reason`: failure in words for the group. */
export function settlementOf(
  { task, turn }: EndedRun,
  { at, reason }: { readonly at: number; readonly reason: string | undefined },
): RunSettlement {
  const unchanged = { at, failures: task.failures, outgoing: [] };
  if (turn?.state === "done") return { ...unchanged, state: "done", failures: 0 };
  if (turn?.state === "cancelled") return { ...unchanged, state: "cancelled" };
  if (turn?.state !== "failed") return { ...unchanged, state: "dropped" };
  const failures = task.failures + 1;
  const failed = { state: "failed", at, failures } as const;
  if (task.state === "paused") return { ...failed, outgoing: [] };
  const name = quotedName(task.name);
  const because = reason === undefined ? "" : ` ${plainSentence(`The last time: ${reason}`)}`;
  if (failures >= pausedAfter) {
    const text = `I have paused the task ${name}: it failed ${failures} times in a row.${because} /tasks resume ${task.id} lets it go on.`;
    return { ...failed, pause: `it failed ${failures} times in a row`, outgoing: [notice(task, text)] };
  }
  const text = `The task ${name} has failed ${failures} times in a row.${because} I keep trying.`;
  return {
    ...failed,
    retryAt: at + backoffMs(backoff, failures),
    outgoing: failures === toldAfter ? [notice(task, text)] : [],
  };
}

function notice({ group }: EndedRun["task"], text: string): OutgoingDraft {
  const { name, channel, chat } = group;
  return { group: name, channel, chat, kind: "notice", text, inReplyTo: [], turn: undefined };
}
