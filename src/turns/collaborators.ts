import type { Role } from "../domain/people/role.ts";
import type { Logger } from "pino";

import type { Group } from "../domain/chats/group.ts";
import type { OutgoingFile, StoredAttachment, StoredMessage } from "../domain/chats/message.ts";
import type { Part } from "../domain/chats/part.ts";
import type { Publish } from "../domain/events/event.ts";
import type { Fingerprint } from "../domain/fingerprint.ts";
import type { ChangeOutcome } from "../domain/rights/approval.ts";
import type { VoiceMessage } from "../domain/settings/speech.ts";
import type { ModelAnswer, ToolCall } from "../domain/turns/model.ts";
import type { Session } from "../domain/turns/session.ts";
import type { HostileCopy } from "../lib/files/open-hostile-file.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { ModelCalls } from "../models/model-calls.ts";
import type { ResolvedGroup } from "../domain/settings/resolved-group.ts";
import type { Ask } from "../rights/approvals/asking.ts";
import type { JudgeHearing } from "../rights/people/hearing.ts";
import type { RoleOf } from "../rights/people/roles.ts";
import type { HotContainer, TurnListener } from "../sandbox/pool/hot-container.ts";
import type { SessionStore } from "../stores/contract/session-store.ts";
import type { StandingAsk } from "../stores/contract/approval-store.ts";
import type { OutboxStore } from "../stores/contract/outbox-store.ts";
import type { MessageStore, Store } from "../stores/contract/store.ts";
import type { TurnTools } from "../tools/conversation-tools.ts";
import type { CapabilityPorts } from "../tools/define-tool.ts";
import type { SessionService } from "../tools/sessions/session-service.ts";
import type { ActiveTurns } from "./active-turns.ts";
import type { TurnFailure } from "./ending/failure-words.ts";
import type { SessionLeases } from "./sessions/session-leases.ts";
import type { SourcedStep, SourcedTurns } from "./steps/sourced-step.ts";
import type { JudgedCall, PreparedSpawns } from "./tool-calls/judge-calls.ts";
import type { SessionGroup, TurnScope } from "./turn-scope.ts";

/** Shows the model what the store holds of a conversation, and collects what is new for it. */
export interface Conversation {
  /** Asks the model with as much of the conversation as it has room for. The history is in the store. */
  ask(scope: TurnScope, signal: AbortSignal): Promise<ModelAnswer>;
  /** Returns the tools that the conversation was offered and that the turn may use now. */
  toolsOf(scope: TurnScope): Promise<TurnTools>;
  /** Returns what the model has to be told because it changed since the last step. */
  changeSince(scope: TurnScope): Promise<SourcedStep | undefined>;
  /**
   * Collects the messages that wait for the session; undefined when none do. `begins`: a turn begins with them; those
   * of people who are not heard anymore come alone then, without their words, and otherwise not at all.
   */
  collect(
    place: Pick<TurnScope, "group" | "settings" | "hears"> & { readonly begins: boolean },
    openSession: OpenSession,
  ): Promise<TurnInput | undefined>;
  /** Takes the ids of work that says how jobs ended which this turn has started; each once. */
  takeJobNews(session: string, turn: string): readonly string[];
}

/** New input for the agent: a step to store, and the messages that it answers. */
export interface TurnInput {
  readonly step: SourcedStep;
  readonly waiting: readonly StoredMessage[];
}

/** Opens the session that messages wait for, as soon as some do. */
export type OpenSession = () => Promise<Session> | Session;

/** Keeps pictures for the steps that refer to them; a string says why one cannot be shown. */
export interface TurnPictures {
  /** Keeps the images of messages that the group's models can be shown, or their captions. */
  imagesOf(group: Group, messages: readonly StoredMessage[]): Promise<ReadonlyMap<StoredAttachment, Part | string>>;
  /** Keeps an image that a tool shows. */
  keepImage(image: {
    readonly group: Group;
    readonly name: string;
    readonly copy: (target: string) => Promise<HostileCopy>;
  }): Promise<Part | string>;
}

/** Calls models as they are configured. */
export interface TurnModels {
  /** Returns calls by the configuration of now, which stays the same for them until they are disposed. */
  hold(): ModelCalls & Disposable;
}

/** Decides with people about tool calls, and prepares those that make sub-agents. */
export interface CallGate {
  /** Makes the question and its card of a call that people have to allow. */
  readonly ask: Ask;
  /** The least role that answers where no rule names one. */
  approvers(): Role;
  /** Tells that approvals have been asked for. */
  approvalsAsked(): void;
  /** Questions about what was changed in folders with review, to be stored with the end of a turn. Never rejects. */
  reviewsOf(group: Group): Promise<readonly StandingAsk[]>;
  /** Told whether they are stored; they are stored now if they are not, because the turn had ended before. */
  reviewsAsked(asks: readonly StandingAsk[], areStored: boolean): Promise<void>;
  /** Returns why a call that people would be asked about has no effect; undefined: it may have one. */
  futility(group: Group, call: ToolCall): Promise<string | undefined>;
  /** Returns why a turn may not do what a call does to the thing that it names; undefined: it may. */
  refusal(scope: Pick<TurnScope, "group" | "session" | "turn">, call: ToolCall): Promise<string | undefined>;
  /** Returns the outcome of the change that this call of the turn proposed. */
  changeOutcome(turn: string, callId: string): Promise<ChangeOutcome>;
  /** Makes sub-agents of calls, to begin with the calls' step, and records that. */
  prepareSpawns(
    scope: TurnScope,
    calls: readonly { readonly judged: JudgedCall; readonly position: number }[],
  ): Promise<PreparedSpawns>;
  /** Told when sub-agents have begun. */
  spawned(): void;
}

/** Gives the host's tools what they need for a call of the turn. */
export interface HostTools extends Pick<TurnPictures, "keepImage"> {
  /** Returns the abilities' ports, good until the signal. */
  portsOf(scope: TurnScope, signal: AbortSignal): CapabilityPorts;
  /** Returns the sessions that the turn may see; `call` tells the call from all others of the turn. */
  sessionsFor(scope: TurnScope, call: string): SessionService;
  /** Copies a file of the group, given by its path in the container, for sending. Throws words for the model. */
  keepFile(folder: string, path: string): Promise<OutgoingFile>;
  /**
   * Reads a file that looks like a secret and is covered in the group's containers, given by its path there. Throws
   * words for the model.
   */
  readCovered(group: string, path: string): Promise<string>;
  /** Keeps what was said aloud, for sending. Throws words for the model. */
  keepVoice(group: string, said: VoiceMessage): Promise<OutgoingFile>;
}

/** Words answers, and sets those that are stored on their way. */
export interface AnswerWriter {
  /** Returns an answer as it goes to the chat; empty when there is nothing to send. */
  formatReply(text: string, scope: TurnScope): string;
  /** Returns words of the host's own, such as why a turn failed, as they go to the chat. */
  formatNotice(text: string, scope: TurnScope): string;
  /** Tells the operator why a turn failed, where members are not told. False: there is no way to. */
  tellFailure(failed: {
    readonly group: Group;
    readonly turn: string;
    readonly failure: TurnFailure;
    readonly detail: string;
  }): boolean;
  /** Told when there are new rows in the outbox. */
  deliver(): void;
  /** Told when a turn has left work for another session. */
  workAdded(): void;
}

/** Watches turns. Nothing here may throw, and none is awaited. */
export interface TurnWatchers {
  /** The turn begins or resumes. Told before it is published. */
  began(scope: TurnScope, messages: readonly StoredMessage[]): void;
  /** The turn asks the model (no calls), or has its tools run these. Returns whether what they print is wanted. */
  doing(scope: TurnScope, calls: readonly ToolCall[]): boolean;
  /** A tool prints a piece, as the agent claims. */
  printing(scope: TurnScope, piece: { readonly callId: string; readonly text: string }): void;
  /** A tool says how far it is. */
  saying(scope: TurnScope, text: string): void;
  /** The turn waits for people or sub-agents, without a container and without a place. */
  parked(scope: TurnScope): void;
  /** The end of the turn is stored. */
  ended(scope: TurnScope): void;
}

/** A session's container, as the turn that it works on uses it. */
export type TurnContainer = Pick<HotContainer, "send" | "close" | "limitHits" | "takeFile" | "giveFile">;

/** Hot containers of sessions. */
export interface TurnPool {
  acquire(group: Group, session: Session, listener: TurnListener): Promise<TurnContainer>;
  release(session: string): void;
  stop(session: string, reason: string): Promise<boolean>;
}

/** Resolves a group for one of its sessions. */
export interface SessionGroups {
  forSession(group: Group, session: Session): Promise<SessionGroup>;
  /** Returns settings as the profiles of these names leave them; a missing one is a fault. */
  narrow(settings: ResolvedGroup, profiles: readonly string[]): Promise<Pick<SessionGroup, "settings" | "fault">>;
}

/** The machine that turns run on. */
export interface Machine {
  /** Resolves when there is room on the disk and the store can be written, or at the signal. Never rejects. */
  untilWritable(signal: AbortSignal): Promise<void>;
}

/** Rows that turns read and write. */
export interface TurnRows {
  readonly messages: MessageStore;
  readonly sessions: SessionStore;
  readonly turns: SourcedTurns;
  readonly work: Pick<Store["work"], "due" | "get">;
  readonly outbox: OutboxStore;
  readonly origins: Pick<Store["origins"], "note">;
  readonly approvals: Pick<Store["approvals"], "ofStep" | "ofTurn" | "release" | "grantFor" | "tellWaiting">;
  readonly subAgents: Pick<Store["subAgents"], "awaitedBy" | "begin" | "ofStep" | "release" | "tellWaiting">;
}

/** Events of turns. */
export type PublishTurn = Publish<
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

/** Everything that a turn works with, each by one object. */
export interface TurnCollaborators {
  readonly store: TurnRows;
  /** Turns that are running, by which others cancel them. */
  readonly active: ActiveTurns;
  readonly leases: Pick<SessionLeases, "hold">;
  readonly groups: SessionGroups;
  readonly models: TurnModels;
  readonly pool: TurnPool;
  readonly machine: Machine;
  readonly conversation: Conversation;
  readonly calls: CallGate;
  readonly tools: HostTools;
  readonly answers: AnswerWriter;
  readonly watchers: TurnWatchers;
  readonly publish: PublishTurn;
  readonly roleOf: RoleOf;
  readonly hearingOf: JudgeHearing;
  /** Returns length and keyed hash of a text: proof of what was said without saying it. */
  readonly fingerprint: (text: string) => Fingerprint;
  readonly clock: Clock;
  readonly logger: Logger;
}
