import type { Logger } from "pino";

import type { Ask } from "../rights/approvals/asking.ts";
import type { ChangeOutcome } from "../domain/rights/approval.ts";
import type { Group } from "../domain/chats/group.ts";
import type { Lease } from "../domain/turns/lease.ts";
import type { OutgoingDraft, OutgoingFile, StoredAttachment, StoredMessage } from "../domain/chats/message.ts";
import type { VoiceMessage } from "../domain/settings/speech.ts";
import type { Part } from "../domain/chats/part.ts";
import type { Origin } from "../domain/people/origin.ts";
import type { Publish } from "../domain/events/event.ts";
import type { Fingerprint } from "../domain/fingerprint.ts";
import type { ModelAnswer, ToolCall } from "../domain/turns/model.ts";
import type { ResolvedGroup } from "../domain/settings/resolved-group.ts";
import type { Addressee, Session } from "../domain/turns/session.ts";
import type { Step, Turn } from "../domain/turns/turn.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { HostileCopy } from "../lib/files/open-hostile-file.ts";
import type { Place } from "../domain/sandbox/place.ts";
import type { ModelCalls } from "../models/model-calls.ts";
import type { RoleOf } from "../rights/people/roles.ts";
import type { SessionStore } from "../stores/contract/session-store.ts";
import type { MessageStore, OutboxStore, NewStep, Store, TurnStore } from "../stores/contract/store.ts";
import type { SessionDesk } from "../tools/sessions/session-desk.ts";
import type { TurnTools } from "../tools/conversation-tools.ts";
import type { CapabilityPorts } from "../tools/define-tool.ts";
import type { HotContainer, TurnListener } from "../sandbox/pool/hot-container.ts";
import type { Failure } from "./failure-words.ts";
import type { SessionLeases } from "./session-leases.ts";
import type { JudgedCall, PreparedSpawns } from "./tool-calls/judge-calls.ts";
import type { TurnClock } from "./turn-clock.ts";

/** A group as it is for one session: with the session's agent, what is configured for both, and the session's route. */
export interface SessionGroup {
  readonly group: Group;
  readonly settings: ResolvedGroup;
  /** Reason why no turn can run in the session, for whoever waits for it. */
  readonly fault?: string | undefined;
}

/** A turn at work: who it is for, and in which conversation. `lease`: the right to write for its session. */
export interface TurnScope {
  readonly turn: Turn;
  readonly group: Group;
  readonly session: Session;
  readonly clock: TurnClock;
  readonly place: Place;
  readonly lease: Lease;
  /** As configured when the work on the turn began. */
  readonly settings: ResolvedGroup;
  /** Of the same time. */
  readonly models: ModelCalls;
  /**
   * What is said in the chat goes to this session as far as it is for this; undefined: nothing does, as the session is
   * beside its agent's main one, or one of an agent that the group had before.
   */
  readonly hears: Addressee | undefined;
  /** Why it cannot be worked on. */
  readonly fault?: string | undefined;
  /** Of a turn that has just begun, what its messages said; undefined when resuming. */
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

/** What says which conversation is meant, and how it is answered. */
export type ConversationScope = Pick<TurnScope, "turn" | "group" | "session" | "settings" | "models">;

export interface TurnOptions {
  readonly store: {
    readonly messages: MessageStore;
    readonly sessions: SessionStore;
    readonly turns: TurnStore;
    readonly work: Pick<Store["work"], "due" | "get">;
    readonly outbox: OutboxStore;
    readonly approvals: Pick<Store["approvals"], "ofStep" | "ofTurn" | "release" | "grantFor" | "tellWaiting">;
    readonly subAgents: Pick<Store["subAgents"], "awaitedBy" | "begin" | "ofStep" | "release" | "tellWaiting">;
  };
  readonly leases: Pick<SessionLeases, "hold">;
  readonly pool: {
    acquire(group: Group, session: Session, listener: TurnListener): Promise<HotContainer>;
    release(session: string): void;
    stop(session: string, reason: string): Promise<boolean>;
  };
  /** Shows the model the conversation and returns its answer; the history is in the store. */
  readonly askModel: (scope: TurnScope, signal: AbortSignal) => Promise<ModelAnswer>;
  /** What somebody is in a group. */
  readonly roleOf: RoleOf;
  /** Messages as the model sees them, with these images; `omitted` earlier ones are not among them. */
  readonly render: (
    messages: readonly StoredMessage[],
    more: {
      readonly settings: Pick<ResolvedGroup, "agent" | "timeZone">;
      readonly omitted: number;
      readonly images: ReadonlyMap<StoredAttachment, Part | string>;
    },
  ) => readonly Part[];
  /**
   * The images of these messages that the group's models can be shown, kept as blobs for the step that is going to
   * refer to them, or their captions; a string says why one cannot be shown.
   */
  readonly imagesOf: (
    group: Group,
    messages: readonly StoredMessage[],
  ) => Promise<ReadonlyMap<StoredAttachment, Part | string>>;
  /**
   * Keeps an image that a tool shows, for the step that is going to refer to it; a string says why it cannot be shown.
   */
  readonly keepImage: (image: {
    readonly group: Group;
    readonly name: string;
    readonly copy: (target: string) => Promise<HostileCopy>;
  }) => Promise<Part | string>;
  /**
   * What goes before what is said: what the group remembers that fits, and skills that it names; undefined: nothing.
   * Never rejects, and takes a fraction of a second at most.
   */
  readonly recall?:
    | ((
        place: { readonly group: Pick<Group, "name" | "main" | "acting" | "agent">; readonly session: Session },
        messages: readonly StoredMessage[],
        at: (time: number) => string,
      ) => Promise<{ readonly text: string; readonly origins: readonly Origin[] } | undefined>)
    | undefined;
  /** What the model has to be told besides; see `ConversationPrompts`. */
  readonly changeSince: (scope: TurnScope) => Promise<NewStep | undefined>;
  readonly estimateTokens: (step: Step["body"]) => number;
  /** What the turn may call, by what its conversation was offered. */
  readonly toolsOf: (scope: TurnScope) => Promise<TurnTools>;
  /** Calls of models as they are configured now, until the result is disposed. */
  readonly holdModels: () => ModelCalls & Disposable;
  readonly groupFor: (group: Group, session: Session) => Promise<SessionGroup>;
  /** The answer as it goes to the chat; empty when there is nothing to send. */
  readonly formatReply: (text: string, scope: TurnScope) => string;
  /** The same for words of the host's own, such as why a turn failed. */
  readonly formatNotice: (text: string, scope: TurnScope) => string;
  /** Tells the operator why a turn failed, where members are not told. False: there is no way to. */
  readonly tellFailure: (failed: {
    readonly group: Group;
    readonly turn: string;
    readonly failure: Failure;
    readonly detail: string;
  }) => boolean;
  /**
   * The turn asks the model (no calls), or has its tools run these. Returns whether what they print is wanted. Must not
   * throw.
   */
  readonly doing: (scope: TurnScope, calls: readonly ToolCall[]) => boolean;
  /** A piece of what a tool prints, as the agent claims. Must not throw. */
  readonly printing: (scope: TurnScope, piece: { readonly callId: string; readonly text: string }) => void;
  /** A tool of the turn says how far it is. Must not throw. */
  readonly saying: (scope: TurnScope, text: string) => void;
  /** What capabilities can do for a tool that this turn calls, until the signal. */
  readonly portsOf: (scope: TurnScope, signal: AbortSignal) => CapabilityPorts;
  /**
   * Copies a file of the group, given by its path in the container, for sending. Throws what is wrong with it, for the
   * model.
   */
  readonly keepFile: (folder: string, path: string) => Promise<OutgoingFile>;
  /** Keeps what was said aloud, for sending. Throws where there is no room, in words for the model. */
  readonly keepVoice: (group: string, said: VoiceMessage) => Promise<OutgoingFile>;
  /** The sessions that a turn may see, at the call with this key. */
  readonly sessionDesk: (scope: TurnScope, call: string) => SessionDesk;
  /** Resolves when there is room on the disk and the store can be written, or at the signal. Never rejects. */
  readonly untilWritable: (signal: AbortSignal) => Promise<void>;
  /** Makes of a call what people are asked. */
  readonly askPeople: Ask;
  /** Why a call that people would be asked about has no effect, for the model; undefined: it may have one. */
  readonly futility: (group: Group, call: ToolCall) => Promise<string | undefined>;
  /** What has become of the change that this call of the turn proposed. */
  readonly changeOutcome: (turn: string, callId: string) => Promise<ChangeOutcome>;
  readonly subAgents: {
    /** Makes of calls what begins with their step, and puts on record that it is going to. */
    readonly prepare: (
      scope: TurnScope,
      calls: readonly { readonly judged: JudgedCall; readonly position: number }[],
    ) => Promise<PreparedSpawns>;
    /** Some have begun. */
    readonly begun: () => void;
  };
  /** People were asked. */
  readonly asked: () => void;
  /** The turn waits for people or sub-agents, without a container and without a place. Must not throw. */
  readonly parked: (scope: TurnScope) => void;
  /** Ids of work that says how jobs ended which this turn has started; each once. */
  readonly takeJobNews: (session: string, turn: string) => readonly string[];
  /** There are new rows in the outbox. */
  readonly deliver: () => void;
  /** A turn has left work for another session. */
  readonly workAdded: () => void;
  readonly publish: Publish<
    | "turn.started"
    | "turn.ended"
    | "tool.called"
    | "tool.denied"
    | "tool.returned"
    | "approval.asked"
    | "approval.used"
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
}

/** A draft for the group's chat. */
export function draftFor(
  group: Group,
  message: Pick<OutgoingDraft, "kind" | "text" | "inReplyTo" | "turn" | "thread" | "elapsedMs">,
): OutgoingDraft {
  const { name, channel, chat, acting } = group;
  return { group: name, channel, chat, agent: acting?.name, ...message };
}

/** What answers these messages, in order: it stands in the thread of the last one. */
export function answering(messages: readonly StoredMessage[]): Pick<OutgoingDraft, "inReplyTo" | "thread"> {
  // One that was for several agents is there for each of them.
  return { inReplyTo: [...new Set(messages.map(({ id }) => id))], thread: messages.at(-1)?.thread };
}
