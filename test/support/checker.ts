/** A message as a client gave it in. The messages of a group stand in the order in which they were given in. */
export interface SentMessage {
  readonly group: string;
  readonly id: string;
  /** Whether it was acknowledged in the end. */
  readonly accepted: boolean;
}

/** A line of `GET …/replies`. */
export interface ReceivedReply {
  readonly seq: number;
  readonly group: string;
  readonly kind: string;
  readonly text?: string;
  readonly inReplyTo: readonly string[];
}

/** A line of `turns list --json`. */
export interface ListedTurn {
  readonly id: string;
  readonly group: string;
  readonly state: string;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
}

/** Inputs and outputs after everything has settled. */
export interface History {
  readonly sent: readonly SentMessage[];
  readonly replies: readonly ReceivedReply[];
  readonly turns: readonly ListedTurn[];
  /** Verdict of `audit verify`. */
  readonly audit: { readonly ok: boolean; readonly detail: string };
  /** Containers that are there although the host has ended in good order. */
  readonly containersLeft: readonly string[];
}

/** Everything in a history that must not be, a sentence each; empty when nothing was lost, doubled or out of order. */
export function findViolations(history: History): string[] {
  return [
    ...findSequenceFaults(history.replies),
    ...findAnswerFaults(history),
    ...findOrderFaults(history),
    ...findTurnFaults(history.turns),
    ...(history.audit.ok ? [] : [`the audit log does not verify: ${history.audit.detail}`]),
    ...history.containersLeft.map((container) => `container ${container} is left over`),
  ];
}

const key = (group: string, id: string): string => JSON.stringify([group, id]);

function findSequenceFaults(replies: readonly ReceivedReply[]): string[] {
  return replies.flatMap((reply, index) => {
    const before = replies[index - 1]?.seq ?? 0;
    return reply.seq > before ? [] : [`reply ${reply.seq} comes after reply ${before}`];
  });
}

/** Each accepted message is in one reply or one notice; nothing else is answered. */
function findAnswerFaults({ sent, replies }: History): string[] {
  const answers = new Map<string, number[]>();
  for (const { seq, group, inReplyTo } of replies) {
    for (const id of inReplyTo) answers.set(key(group, id), [...(answers.get(key(group, id)) ?? []), seq]);
  }
  const faults = sent.flatMap(({ group, id, accepted }) => {
    const found = answers.get(key(group, id)) ?? [];
    answers.delete(key(group, id));
    if (!accepted && found.length > 0)
      return [`${id} of ${group} was not accepted and is answered by ${found.join(", ")}`];
    if (accepted && found.length === 0) return [`${id} of ${group} is lost: no reply and no notice answers it`];
    if (found.length > 1) return [`${id} of ${group} is answered ${found.length} times: ${found.join(", ")}`];
    return [];
  });
  const strangers = [...answers].map(
    ([message, found]) => `${message} was never sent and is answered by ${found.join(", ")}`,
  );
  return [...faults, ...strangers];
}

/** The messages of a group are answered in the order in which they were given in. */
function findOrderFaults({ sent, replies }: History): string[] {
  const places = new Map(sent.map(({ group, id }, index) => [key(group, id), index]));
  const last = new Map<string, { place: number; id: string }>();
  const faults: string[] = [];
  for (const { group, inReplyTo } of replies) {
    for (const id of inReplyTo) {
      const place = places.get(key(group, id)) ?? 0;
      const before = last.get(group);
      if (before && place < before.place)
        faults.push(`${id} of ${group} is answered after ${before.id}, which came later`);
      last.set(group, { place, id });
    }
  }
  return faults;
}

/** Turns of a group follow one another, and all have ended. */
function findTurnFaults(turns: readonly ListedTurn[]): string[] {
  const faults = turns
    .filter(({ endedAt, state }) => endedAt === undefined || state === "running")
    .map(({ id, group, state }) => `turn ${id} of ${group} has not ended: it is ${state}`);
  for (const [group, own] of Map.groupBy(turns, (turn) => turn.group)) {
    const inOrder = own.toSorted((one, other) => one.startedAt - other.startedAt);
    for (const [index, turn] of inOrder.entries()) {
      const before = inOrder[index - 1];
      if (before?.endedAt !== undefined && turn.startedAt < before.endedAt)
        faults.push(`turns ${before.id} and ${turn.id} of ${group} overlap`);
    }
  }
  return faults;
}
