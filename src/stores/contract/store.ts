import type { Answered, ApprovalAnswer, NewApproval } from "../../domain/rights/approval.ts";
import type {
  GroupChat,
  GroupFolder,
  InstructionsState,
  RequestSettlement,
  StoredGroup,
} from "../../domain/chats/group.ts";
import type {
  IncomingMessage,
  MessageState,
  OutgoingDraft,
  OutgoingMessage,
  StoredAttachment,
  StoredMessage,
  StoredQuote,
} from "../../domain/chats/message.ts";
import type { ToldFacts } from "../../domain/turns/conversation.ts";
import type { Lease } from "../../domain/turns/lease.ts";
import type { Exposure } from "../../domain/people/origin.ts";
import type { ModelUsage } from "../../domain/turns/model.ts";
import type { Lineage } from "../../domain/rights/lineage.ts";
import type { ProtectedFileName } from "../../domain/rights/protected-file.ts";
import type { Addressee } from "../../domain/turns/session.ts";
import type { NewSubAgent } from "../../domain/work/sub-agent.ts";
import type { PacedTurn, Step, StepBody, Turn, TurnState, TurnTimes } from "../../domain/turns/turn.ts";
import type { NewWork, Work } from "../../domain/work/work.ts";
import type { ApprovalStore, StandingAsk } from "./approval-store.ts";
import type { BlobStore } from "./blob-store.ts";
import type { ChatStore, RequestStore } from "./chat-store.ts";
import type { ErasureStore } from "./erasure-store.ts";
import type { EventStore } from "./event-store.ts";
import type { IntakeCharge, IntakeStore } from "./intake-store.ts";
import type { JobStore } from "./job-store.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { OriginStore } from "./origin-store.ts";
import type { OutboxStore } from "./outbox-store.ts";
import type { RetentionStore } from "./retention-store.ts";
import type { SettingsStore } from "./settings-store.ts";
import type { TableStores } from "../tables.ts";
import type { TaskStore } from "./task-store.ts";
import type { SubAgentStore } from "./sub-agent-store.ts";
import type { SummaryStore } from "./summary-store.ts";
import type { UsageStore } from "./usage-store.ts";
import type { SessionStore } from "./session-store.ts";
import type { WorkStore } from "./work-store.ts";

export interface WaitingInGroup {
  readonly group: string;
  /** The group's chat at the time these messages arrived. */
  readonly channel: string;
  readonly chat: string;
  readonly messages: number;
  /** Arrival time of the oldest message. */
  readonly oldestAt: number;
}

/** Messages that wait for an agent. */
interface WaitingMessageReader {
  /**
   * A group's `waiting` messages that are not late, oldest first, at most `limit`; only one agent's with `addressee`.
   */
  waiting(group: GroupChat, limit: number, addressee?: Addressee): Promise<StoredMessage[]>;
  /** Number of messages that `waiting` would return without a limit. */
  waitingCount(group: GroupChat, addressee?: Addressee): Promise<number>;
  /** Number of waiting messages in all groups together, counted up to `limit`. */
  waitingTotal(limit: number): Promise<number>;
  /** Waiting messages by group, the longest-waiting group first. */
  waitingByGroup(): Promise<WaitingInGroup[]>;
  /** Groups with `waiting` messages, the longest-waiting first. */
  waitingGroups(): Promise<string[]>;
}

/**
 * Messages, each stored once by (channel, chat, sender id, id). Messages from a chat that used the group's name earlier
 * do not belong to the group.
 */
export interface MessageStore extends WaitingMessageReader {
  /**
   * Stores a message of a registered group; a command is then pending. `duplicate`: already stored, nothing changed,
   * `seq` is the existing one.
   */
  insert(
    message: IncomingMessage,
    placed: {
      group: string;
      state: MessageState;
      at: number;
      command?: string | undefined;
      /** Text after the command. */
      argument?: string | undefined;
      /** Ids of the addressed agents in a group with several; the message waits for each of them. */
      agents?: readonly string[] | undefined;
      /** True when the message is too old to answer; it waits to be given up. */
      late?: boolean | undefined;
      attachments?: readonly StoredAttachment[] | undefined;
      /** Verified quote; the one that the message itself has is not kept. */
      quote?: StoredQuote | undefined;
      /** Budget charge, written together with the message; skipped for a duplicate. */
      charge?: IntakeCharge | undefined;
    },
  ): Promise<{ seq: number; duplicate: boolean }>;
  /** Members' messages with this id in a group's chat, at most `limit`; several senders may have used one id. */
  called(group: GroupChat, id: string, limit: number): Promise<StoredMessage[]>;
  /** True when this message is already stored. */
  isKnown(message: Pick<IncomingMessage, "channel" | "chat" | "sender" | "id">): Promise<boolean>;
  /** A group's messages with `seq > after` in any state but `handled`, oldest first; when over `limit`, the newest. */
  after(group: GroupChat, after: number, limit: number): Promise<StoredMessage[]>;
  /** Like `after`, but the oldest messages; with `copies`, a message for several agents comes once for each. */
  following(
    group: GroupChat,
    after: number,
    limit: number,
    how?: { readonly copies?: boolean },
  ): Promise<StoredMessage[]>;
  /** Number of the group's messages with `seq > after` in any state but `handled`, counted up to 10,000. */
  countAfter(group: GroupChat, after: number): Promise<number>;
  /** The existing messages among these numbers, in order. */
  withSeqs(seqs: readonly number[]): Promise<StoredMessage[]>;
  /**
   * The message with this id that a member sent to the agent, when others in the chat came after it. Undefined when it
   * was for others, is pruned, or the id is ambiguous. `setAside` also finds messages that no longer wait for an
   * answer.
   */
  overtaken(
    group: GroupChat,
    id: string,
    options?: { readonly setAside?: boolean },
  ): Promise<StoredMessage | undefined>;
  /** Messages that belong to a turn, in order. */
  ofTurn(turn: string): Promise<StoredMessage[]>;
  /** Puts a failed turn's messages back to `waiting` (`turns retry`), except pruned ones. Returns their number. */
  requeue(turn: string): Promise<number>;
}

export interface GroupStore {
  /** Groups added at run time (not those of the configuration), by name. */
  list(): Promise<StoredGroup[]>;
  /** Adds a group; throws `conflict` when another stored group has its name or its (channel, chat). */
  add(group: StoredGroup): Promise<void>;
  /** Replaces the group's own settings. No effect when the group is missing. */
  change(name: string, settings: StoredGroup["settings"]): Promise<void>;
  /** Removes a group, keeping its messages and turns; false when it is missing. */
  remove(name: string): Promise<boolean>;
  /** The group's permanent number (0, 1, 2 …), from which its uid is derived. Works for configured groups too. */
  ordinal(name: string): Promise<number>;
  /** The owner of the folder with this name; undefined when none was recorded. */
  folder(name: string): Promise<GroupFolder | undefined>;
  /** All recorded folders, by name. */
  folders(): Promise<GroupFolder[]>;
  /** Assigns the folder with the group's name to the group's chat. */
  claimFolder(group: GroupChat): Promise<void>;
  /** Another chat that has messages stored under this group's name. */
  earlierChat(group: GroupChat): Promise<Pick<GroupChat, "channel" | "chat"> | undefined>;
  /** Records the group's current instructions. No effect for a folder without an owner. */
  noteInstructions(name: string, file: ProtectedFileName, instructions: InstructionsState): Promise<void>;
}

/** A step to write, with the messages or the work that it shows to the model for the first time. */
export interface NewStep {
  readonly body: StepBody;
  readonly tokens: number;
  readonly at: number;
  /**
   * `waiting` messages that the turn takes; the session's cursor moves to `cursor`. AppError `conflict` when one no
   * longer waits. The turn inherits their `lineage`.
   */
  readonly takes?:
    | { readonly messages: readonly number[]; readonly cursor: number; readonly lineage: Lineage }
    | undefined;
  /**
   * Due work that the turn takes, by `seq`; AppError `conflict` when it is no longer due. The turn inherits its
   * lineage, and this one: the same with the role that it has now.
   */
  readonly takesWork?: { readonly seq: number; readonly lineage: Lineage } | undefined;
  /** Approvals that this answer's calls open, each with the card that asks. */
  readonly asks?: readonly { readonly approval: NewApproval; readonly card: OutgoingDraft }[] | undefined;
  /** Sub-agents that this answer's calls create, in the same transaction. */
  readonly spawns?: readonly NewSubAgent[] | undefined;
  /** Contact with outside content that this step adds to the turn and the group's folder. */
  readonly exposure?: Exposure | undefined;
  /** Facts that the model has been shown in this conversation from now on. */
  readonly tells?: ToldFacts | undefined;
}

/** Beginning of a turn and the usage of its models, as far as kept. */
export interface TurnOutline {
  /** Name of the first message's sender. */
  readonly sender: string | undefined;
  /** Text of the first message or of the work. */
  readonly text: string | undefined;
  readonly usage: readonly (ModelUsage & { readonly model: string })[];
}

/** Turns and their steps as they are now. */
export interface TurnReader {
  get(id: string): Promise<Turn | undefined>;
  /** Turn ids with this prefix, in order, at most `limit`. */
  idsBeginningWith(prefix: string, limit: number): Promise<string[]>;
  running(): Promise<Turn[]>;
  /** The session's running turn; there is at most one. */
  runningIn(session: string): Promise<Turn | undefined>;
  /** Turns, newest first. */
  list(filter: { group?: string | undefined; limit: number }): Promise<Turn[]>;
  /** Outlines by turn id; turns without kept data are left out. */
  outlines(turns: readonly string[]): Promise<ReadonlyMap<string, TurnOutline>>;
  steps(turn: string): Promise<Step[]>;
  /** The newest `limit` turns of a group since then, oldest first, with senders for the newest `detailed`. */
  pace(group: string, window: { since: number; limit: number; detailed: number }): Promise<PacedTurn[]>;
  /** The newest step of a turn. */
  lastStep(turn: string): Promise<Step | undefined>;
  /** Steps of a session's current conversation with `seq >= from`, oldest first. */
  history(session: string, conversation: number, from: number): Promise<Step[]>;
}

/** Turns and their steps. Each write takes the session's lease last; AppError `fenced` when another host holds it. */
export interface TurnStore extends TurnReader {
  /** Starts a turn: its row, first step and taken messages or work, in one transaction. */
  begin(
    turn: Pick<Turn, "id" | "session" | "group" | "conversation" | "cause" | "replyTo"> & { readonly at: number },
    first: NewStep,
    lease?: Lease,
  ): Promise<{ readonly turn: Turn; readonly step: Step }>;
  addStep(turn: string, step: NewStep, lease?: Lease): Promise<Step>;
  /** Counts another container for the turn and returns the new number of attempts. */
  addAttempt(turn: string, lease?: Lease): Promise<number>;
  /**
   * Ends a turn in one transaction: last steps, state, messages `answered`, work `settled`, approvals `cancelled`,
   * outgoing rows and follow-up work. Returns undefined, without effect, when the turn has already ended.
   */
  finish(
    turn: string,
    end: {
      state: Exclude<TurnState, "running">;
      reason?: string | undefined;
      times?: TurnTimes | undefined;
      at: number;
      steps: readonly NewStep[];
      outgoing: readonly OutgoingDraft[];
      /** It inherits the lineage that the turn has by then. */
      work?: readonly Omit<NewWork, "lineage">[] | undefined;
      /** The turn's answer to the agent that it works for. */
      handsBack?: string | undefined;
      /** Messages of it, by `seq`, that wait for another turn instead of being answered. */
      waitAgain?: readonly number[] | undefined;
      /** Questions that its end raises. */
      asks?: readonly StandingAsk[] | undefined;
    },
    lease?: Lease,
  ): Promise<OutgoingMessage[] | undefined>;
}

/** A command waiting to be carried out. */
export interface PendingCommand {
  readonly command: string;
  /** Text after the command. */
  readonly argument: string | undefined;
  readonly message: StoredMessage;
}

/** A group's work that ends without an agent's answer: running turns with their messages, and waiting messages. */
export interface SetAside {
  readonly turns: readonly { readonly turn: Turn; readonly messages: readonly StoredMessage[] }[];
  readonly waiting: readonly StoredMessage[];
  /** Due work other than messages. */
  readonly work: readonly Work[];
  /** Outcome of the answer that a command gave. */
  readonly answered?: Answered | undefined;
}

/**
 * Texts about the ended work: turn endings for the operator and (as last step) the model, and a notice for the chat.
 */
export interface SetAsideWords {
  readonly reason: string;
  readonly lastStep: NewStep;
  readonly outgoing: readonly OutgoingDraft[];
}

/**
 * Commands of chats, and work that ends without an answer of an agent. `tell` runs inside the transaction: it must not
 * wait or throw.
 */
export interface CommandStore {
  /** Pending commands of one group or of all, oldest first. */
  pending(group?: GroupChat): Promise<PendingCommand[]>;
  /**
   * Carries out the command stored as message `seq`, in one transaction. `stops` ends earlier turns, handles waiting
   * messages and drops due work, narrowed by `choose`. `renews` starts a new conversation in these sessions and ends
   * the container's generation. `settles` answers a request, `answers` an approval. Returns undefined, without effect,
   * when carried out before.
   */
  carryOut(
    seq: number,
    change: {
      readonly at: number;
      readonly stops: boolean;
      /** Selects the work to end; all of it by default. Must not wait or throw. */
      readonly choose?: ((found: SetAside) => SetAside) | undefined;
      readonly renews?: readonly string[] | undefined;
      /** Sessions whose conversations are compacted. */
      readonly compacts?: readonly string[] | undefined;
      readonly settles?: RequestSettlement | undefined;
      readonly answers?: ApprovalAnswer | undefined;
      /** Words the outcome, from the ended work and all the work found. */
      readonly tell: (ended: SetAside, found: SetAside) => SetAsideWords;
    },
  ): Promise<SetAside | undefined>;
  /**
   * Turns messages waiting since before `before` into `context` and cancels turns idle since then, in one transaction.
   * `tell` is called only when something was given up.
   */
  giveUpOld(
    group: GroupChat,
    change: { readonly at: number; readonly before: number; readonly tell: (found: SetAside) => SetAsideWords },
  ): Promise<SetAside>;
  /** Like `giveUpOld` for messages stored as `late`; leaves turns alone. */
  giveUpLate(
    group: GroupChat,
    change: { readonly at: number; readonly tell: (found: SetAside) => SetAsideWords },
  ): Promise<SetAside>;
}

/** The store's independent witness of the audit log, and an index into it. The log itself is files. */
export interface AuditIndex {
  head(): Promise<{ seq: number; hash: string } | undefined>;
  /** Highest record that may be signed; undefined before the first `willSign`. */
  signed(): Promise<number | undefined>;
  /** Resolves once this record and the intention to sign it are on disk. */
  willSign(seq: number): Promise<void>;
  /** Adds one batch of records, in order; the last one becomes the head. */
  append(
    records: readonly { seq: number; hash: string; type: string; group: string | undefined; file: string }[],
  ): Promise<void>;
}

/** A channel's private state, such as an account's keys: small secret values by key, in named spaces. Never logged. */
export interface ChannelStateStore {
  /** The values of these keys; missing keys are left out. */
  read(space: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** All values of a space, in key order. */
  list(space: string): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Sets values, or removes them where null, in one transaction. */
  apply(space: string, changes: ReadonlyMap<string, Uint8Array | null>): Promise<void>;
  /** Renames a space, replacing any existing one of that name. */
  rename(space: string, to: string): Promise<void>;
}

/**
 * All state of a host. Asynchronous so that adapters over a network fit. Every method is atomic. Further members come
 * from the catalog in `tables.ts`.
 */
export interface Store extends TableStores, AsyncDisposable {
  readonly messages: MessageStore;
  readonly intake: IntakeStore;
  readonly retention: RetentionStore;
  readonly groups: GroupStore;
  readonly chats: ChatStore;
  readonly requests: RequestStore;
  readonly sessions: SessionStore;
  readonly leases: LeaseStore;
  readonly turns: TurnStore;
  readonly work: WorkStore;
  readonly jobs: JobStore;
  readonly approvals: ApprovalStore;
  readonly tasks: TaskStore;
  readonly subAgents: SubAgentStore;
  readonly summaries: SummaryStore;
  readonly origins: OriginStore;
  readonly commands: CommandStore;
  readonly blobs: BlobStore;
  readonly outbox: OutboxStore;
  readonly channelState: ChannelStateStore;
  readonly usage: UsageStore;
  readonly audit: AuditIndex;
  readonly events: EventStore;
  readonly settings: SettingsStore;
  readonly erasure: ErasureStore;
  /** Writes a small value to disk. Rejects whenever writes fail. */
  probe(at: number): Promise<void>;
}
