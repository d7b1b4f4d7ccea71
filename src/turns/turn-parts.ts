import type { Logger } from "pino";

import type { Group } from "../domain/group.ts";
import type { OutgoingDraft, OutgoingFile, StoredMessage } from "../domain/message.ts";
import type { Publish } from "../events/event.ts";
import type { Fingerprint } from "../domain/fingerprint.ts";
import type { ModelAnswer, ToolCall } from "../domain/model.ts";
import type { Session } from "../domain/session.ts";
import type { Step, Turn } from "../domain/turn.ts";
import type { Clock } from "../lib/clock.ts";
import type { Decision } from "../policy/tool-policy.ts";
import type { Place } from "../domain/place.ts";
import type { MessageStore, OutboxStore, SessionStore, TurnStore } from "../stores/store.ts";
import type { HotContainer, TurnListener } from "../sandbox/pool/hot-container.ts";
import type { TurnClock } from "./turn-clock.ts";

/** A turn at work: who it is for, and in which conversation. */
export interface TurnScope {
  readonly turn: Turn;
  readonly group: Group;
  readonly session: Session;
  readonly clock: TurnClock;
  readonly place: Place;
  /** Of a turn that has just begun, what its messages said; undefined when it is gone on with. */
  readonly firstStep?: Step;
}

/** Which turn of which session an event tells of. */
export function placeOf({ turn, session, group }: TurnScope): {
  readonly group: string;
  readonly session: string;
  readonly turn: string;
} {
  return { group: group.name, session: session.id, turn: turn.id };
}

export interface TurnParts {
  readonly store: {
    readonly messages: MessageStore;
    readonly sessions: SessionStore;
    readonly turns: TurnStore;
    readonly outbox: OutboxStore;
  };
  readonly pool: {
    acquire(group: Group, session: Session, listener: TurnListener): Promise<HotContainer>;
    release(session: string): void;
    stop(session: string, reason: string): Promise<boolean>;
  };
  /** Shows the model the conversation and returns its answer; the history is in the store. */
  readonly ask: (scope: TurnScope, signal: AbortSignal) => Promise<ModelAnswer>;
  /** Messages as the model sees them; `omitted` earlier ones are not among them. */
  readonly render: (messages: readonly StoredMessage[], omitted: number) => string;
  readonly estimateTokens: (step: Step["body"]) => number;
  readonly judge: (group: Group, call: ToolCall) => Decision;
  /** The answer as it goes to the chat; empty when there is nothing to send. */
  readonly formatReply: (text: string, scope: TurnScope) => string;
  /** The same for words of the host's own, such as why a turn failed. */
  readonly formatNotice: (text: string, scope: TurnScope) => string;
  /** Copies a file of the group, given by its path in the container, for sending. Throws what is wrong with it, for the model. */
  readonly keepFile: (group: string, path: string) => Promise<OutgoingFile>;
  /** Can an emoji be put on a message of this channel? */
  readonly canReact: (channel: string) => boolean;
  /** Resolves when there is room on the disk and the store can be written, or at the signal. Never rejects. */
  readonly untilWritable: (signal: AbortSignal) => Promise<void>;
  /** There are new rows in the outbox. */
  readonly deliver: () => void;
  readonly publish: Publish<
    | "turn.started"
    | "turn.ended"
    | "tool.called"
    | "tool.denied"
    | "tool.returned"
    | "agent.progressed"
    | "agent.failed"
    | "agent.overstepped"
    | "limit.reached"
  >;
  /** Length and keyed hash of a text: proof of what was said without saying it. */
  readonly fingerprint: (text: string) => Fingerprint;
  /** Told before it is published, and at once. */
  readonly began: (scope: TurnScope, messages: readonly StoredMessage[]) => void;
  readonly ended: (scope: TurnScope) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly turnTimeoutMs: number;
  /** So long may tools of a turn run while others wait and get no place. */
  readonly holdMs: number;
  /** Longest silence of an agent during a turn: after a message that it must react to at once, and to pings. */
  readonly silenceTimeoutMs: number;
}

/** A draft for the group's chat. */
export function draftFor(
  group: Group,
  message: Pick<OutgoingDraft, "kind" | "text" | "inReplyTo" | "turn"> & { elapsedMs?: number | undefined },
): OutgoingDraft {
  return { group: group.name, channel: group.channel, chat: group.chat, ...message };
}
