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
  OutboxState,
  OutgoingDraft,
  OutgoingMessage,
  StoredAttachment,
  StoredMessage,
} from "../../domain/chats/message.ts";
import type { ToldFacts } from "../../domain/turns/conversation.ts";
import type { Lease } from "../../domain/turns/lease.ts";
import type { Exposure } from "../../domain/people/origin.ts";
import type { ModelUsage } from "../../domain/turns/model.ts";
import type { ProtectedFileName } from "../../domain/rights/protected-file.ts";
import type { Addressee } from "../../domain/turns/session.ts";
import type { NewSubAgent } from "../../domain/work/sub-agent.ts";
import type { PacedTurn, Step, StepBody, Turn, TurnState, TurnTimes } from "../../domain/turns/turn.ts";
import type { NewWork, Work } from "../../domain/work/work.ts";
import type { ApprovalStore } from "./approval-store.ts";
import type { BlobStore } from "./blob-store.ts";
import type { ChatStore, RequestStore } from "./chat-store.ts";
import type { ErasureStore } from "./erasure-store.ts";
import type { EventStore } from "./event-store.ts";
import type { ExecutionPointStore } from "./execution-point-store.ts";
import type { IntakeCharge, IntakeStore } from "./intake-store.ts";
import type { JobStore } from "./job-store.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { OriginStore } from "./origin-store.ts";
import type { RetentionStore } from "./retention-store.ts";
import type { SettingsStore } from "./settings-store.ts";
import type { TaskStore } from "./task-store.ts";
import type { SubAgentStore } from "./sub-agent-store.ts";
import type { SummaryStore } from "./summary-store.ts";
import type { UsageStore } from "./usage-store.ts";
import type { SessionStore } from "./session-store.ts";
import type { WorkStore } from "./work-store.ts";

export interface WaitingInGroup {
  readonly group: string;
  /** The chat that it was when they came. */
  readonly channel: string;
  readonly chat: string;
  readonly messages: number;
  /** When the first one came in. */
  readonly oldestAt: number;
}

/**
 * Messages, each stored once under (channel, chat, sender id, id). Those of a group are those that came from its chat: what
 * another chat has left under the group's name is not among them.
 */
export interface MessageStore {
  /**
   * Stores a message of a registered group; one that is a command has to be carried out from then on. `duplicate`: it was
   * there before, nothing was changed, `seq` is the old one.
   */
  insert(
    message: IncomingMessage,
    placed: {
      group: string;
      state: MessageState;
      at: number;
      command?: string | undefined;
      /** What was said behind the command. */
      argument?: string | undefined;
      /** Ids of the agents that it is for, in a group with several: it waits for each of them. */
      agents?: readonly string[] | undefined;
      /** Too old to be answered: it waits to be given up. */
      late?: boolean | undefined;
      attachments?: readonly StoredAttachment[] | undefined;
      /** Made with the message, and not at all for a duplicate. */
      charge?: IntakeCharge | undefined;
    },
  ): Promise<{ seq: number; duplicate: boolean }>;
  /** Was this message stored before? */
  isKnown(message: Pick<IncomingMessage, "channel" | "chat" | "sender" | "id">): Promise<boolean>;
  /** Messages of a group with `seq > after`, oldest first, all states but `handled`. At most `limit`: the newest ones win. */
  after(group: GroupChat, after: number, limit: number): Promise<StoredMessage[]>;
  /** The same, the oldest ones; with `copies`, one for several agents comes once for each of them. */
  following(
    group: GroupChat,
    after: number,
    limit: number,
    how?: { readonly copies?: boolean },
  ): Promise<StoredMessage[]>;
  /** How many messages of the group (all states but `handled`) have `seq > after`; not counted beyond 10,000. */
  countAfter(group: GroupChat, after: number): Promise<number>;
  /** The `waiting` messages of a group that are not late, oldest first, at most `limit`; of one agent's, where it has several. */
  waiting(group: GroupChat, limit: number, addressee?: Addressee): Promise<StoredMessage[]>;
  /** How many there are. */
  waitingCount(group: GroupChat, addressee?: Addressee): Promise<number>;
  /** How many messages wait in all groups together, counted up to `limit`. */
  waitingTotal(limit: number): Promise<number>;
  /** What waits in each group, the one that has waited longest first. */
  waitingByGroup(): Promise<WaitingInGroup[]>;
  /** Groups that have `waiting` messages, the one that has waited longest first. */
  waitingGroups(): Promise<string[]>;
  /** The messages of these numbers that there are, in order. */
  withSeqs(seqs: readonly number[]): Promise<StoredMessage[]>;
  /**
   * The message with this id that a member said to the agent in the group's chat, if others of the chat came after it. Undefined also for
   * one that was said only for others or is pruned, and where several members have one of this id. `setAside`: also of one that is
   * not going to be answered any more.
   */
  overtaken(
    group: GroupChat,
    id: string,
    options?: { readonly setAside?: boolean },
  ): Promise<StoredMessage | undefined>;
  /** Messages that belong to a turn, in order. */
  ofTurn(turn: string): Promise<StoredMessage[]>;
  /** Puts messages of a failed turn back to `waiting` (`turns retry`), but for pruned ones. Returns how many. */
  requeue(turn: string): Promise<number>;
}

export interface GroupStore {
  /** Groups added at run time (not those of the configuration), by name. */
  list(): Promise<StoredGroup[]>;
  /** Adds one; throws `conflict` when the name or (channel, chat) is taken by another stored group. */
  add(group: StoredGroup): Promise<void>;
  /** Replaces what a group says itself. No effect where there is no such group. */
  change(name: string, settings: StoredGroup["settings"]): Promise<void>;
  /** Removes one; false when there was none. Messages and turns are kept. */
  remove(name: string): Promise<boolean>;
  /** A small number of the group's own (0, 1, 2 …), the same for ever: its uid is derived from it. Works for configured groups too. */
  ordinal(name: string): Promise<number>;
  /** Has there ever been a group of this name, of which something may be left? */
  wasUsed(name: string): Promise<boolean>;
  /** Whose the folder of this name is; undefined when that was never noted. */
  folder(name: string): Promise<GroupFolder | undefined>;
  /** By name. */
  folders(): Promise<GroupFolder[]>;
  /** The folder of the group's name belongs to its chat from now on. */
  claimFolder(group: GroupChat): Promise<void>;
  /** A chat other than the group's that has left messages under its name. */
  earlierChat(group: GroupChat): Promise<Pick<GroupChat, "channel" | "chat"> | undefined>;
  /** Notes the instructions that the group uses now. No effect for a folder that nobody has claimed. */
  noteInstructions(name: string, file: ProtectedFileName, instructions: InstructionsState): Promise<void>;
}

/** A step to be written, together with the messages or the work that it shows to the model for the first time. */
export interface NewStep {
  readonly body: StepBody;
  readonly tokens: number;
  readonly at: number;
  /**
   * `waiting` messages with these `seq` become `taken` by the turn; the session's cursor moves to `cursor`. AppError `conflict` when
   * one of them does not wait any more.
   */
  readonly takes?: { readonly messages: readonly number[]; readonly cursor: number } | undefined;
  /** Work that is due with this `seq` becomes `taken` by the turn; AppError `conflict` when it is not due any more. */
  readonly takesWork?: number | undefined;
  /** Calls of this answer that people are asked about, each with the message that asks: they are open from then on. */
  readonly asks?: readonly { readonly approval: NewApproval; readonly card: OutgoingDraft }[] | undefined;
  /** Sub-agents that calls of this answer make: they begin in the same moment. */
  readonly spawns?: readonly NewSubAgent[] | undefined;
  /** What the turn comes into contact with by it: noted of the turn, and of the group's folder, in the same moment. */
  readonly exposure?: Exposure | undefined;
  /** The model knows these facts from then on; of the turn's conversation. */
  readonly tells?: ToldFacts | undefined;
}

/** What a turn began with, and what its models used; as far as it is kept. */
export interface TurnOutline {
  /** Name of the member whose message was the first. */
  readonly sender: string | undefined;
  /** Of that message, or of the work that the turn was begun for. */
  readonly text: string | undefined;
  readonly usage: readonly (ModelUsage & { readonly model: string })[];
}

/** The last parameter of each write is the lease of who works on the session; AppError `fenced` when another one has it by now. */
export interface TurnStore {
  /** Writes a turn, its first step and the taking of its messages or its work in one transaction. */
  begin(
    turn: Pick<Turn, "id" | "session" | "group" | "conversation" | "cause" | "replyTo"> & { readonly at: number },
    first: NewStep,
    lease?: Lease,
  ): Promise<{ readonly turn: Turn; readonly step: Step }>;
  addStep(turn: string, step: NewStep, lease?: Lease): Promise<Step>;
  /** Counts a further container for the turn and returns the new number of attempts. */
  addAttempt(turn: string, lease?: Lease): Promise<number>;
  /**
   * Ends a turn in one transaction: last steps, state, its messages become `answered`, its work `settled`, what people are asked
   * about it `cancelled`, the outgoing rows
   * and the work that follows from it are written. A turn that has ended already is left as it is and `undefined` is returned.
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
      work?: readonly NewWork[] | undefined;
      /** What the agent whose turn it is answers to the one that it works for. */
      handsBack?: string | undefined;
    },
    lease?: Lease,
  ): Promise<OutgoingMessage[] | undefined>;
  get(id: string): Promise<Turn | undefined>;
  /** Ids that begin with this text, in order, at most `limit`. */
  idsBeginningWith(prefix: string, limit: number): Promise<string[]>;
  running(): Promise<Turn[]>;
  /** The turn of this session that runs; there is never more than one. */
  runningIn(session: string): Promise<Turn | undefined>;
  /** Newest first. */
  list(filter: { group?: string | undefined; limit: number }): Promise<Turn[]>;
  /** By turn id; those of which nothing is kept are left out. */
  outlines(turns: readonly string[]): Promise<ReadonlyMap<string, TurnOutline>>;
  steps(turn: string): Promise<Step[]>;
  /** Turns of a group that began since then, at most `limit`, the newest, oldest first; who began them, of the newest `detailed`. */
  pace(group: string, window: { since: number; limit: number; detailed: number }): Promise<PacedTurn[]>;
  /** The newest step of a turn. */
  lastStep(turn: string): Promise<Step | undefined>;
  /** Steps of a session's current conversation with `seq >= from`, oldest first. */
  history(session: string, conversation: number, from: number): Promise<Step[]>;
}

/** A command that was said as this message. */
export interface PendingCommand {
  readonly command: string;
  /** What was said behind it. */
  readonly argument: string | undefined;
  readonly message: StoredMessage;
}

/** What a group had to do and ends without an answer of the agent: running turns with their messages, and what no turn has. */
export interface SetAside {
  readonly turns: readonly { readonly turn: Turn; readonly messages: readonly StoredMessage[] }[];
  readonly waiting: readonly StoredMessage[];
  /** Work other than messages that was due. */
  readonly work: readonly Work[];
  /** What came of the answer that a command gave. */
  readonly answered?: Answered | undefined;
}

/** What is written about it: how the turns ended, for the operator and (as their last step) for the model, and for the chat. */
export interface SetAsideWords {
  readonly reason: string;
  readonly lastStep: NewStep;
  readonly outgoing: readonly OutgoingDraft[];
}

/** What the host does to the work of a group by itself. `tell` words it inside the transaction: it must not wait or throw. */
export interface InterventionStore {
  /** Commands that are not carried out yet, of one group or of all, in the order in which they were said. */
  commands(group?: GroupChat): Promise<PendingCommand[]>;
  /**
   * Carries out the command that was said as message `seq`, in one transaction. `stops`: ends running turns that began before
   * it, what waited before it becomes `handled`, and work that is due by then is dropped; `choose` picks what of all that is ended. `renews`: these sessions begin a new conversation, messages up to the
   * command count as shown, and its container's generation is over. `settles`: this request is answered. `answers`: this approval
   * is. Undefined, and no effect, when it was carried out before.
   */
  carryOut(
    seq: number,
    change: {
      readonly at: number;
      readonly stops: boolean;
      /** Left out: all of it. Must not wait or throw. */
      readonly choose?: ((found: SetAside) => SetAside) | undefined;
      readonly renews?: readonly string[] | undefined;
      /** Sessions whose conversations are to be compacted. */
      readonly compacts?: readonly string[] | undefined;
      readonly settles?: RequestSettlement | undefined;
      readonly answers?: ApprovalAnswer | undefined;
      /** Of what was ended, and what there was. */
      readonly tell: (ended: SetAside, found: SetAside) => SetAsideWords;
    },
  ): Promise<SetAside | undefined>;
  /**
   * In one transaction: what waits in the group and came before `before` becomes `context`, and running turns of which
   * nothing was said or stored since are cancelled. `tell` is not called when there is nothing of the kind.
   */
  giveUpOld(
    group: GroupChat,
    change: { readonly at: number; readonly before: number; readonly tell: (found: SetAside) => SetAsideWords },
  ): Promise<SetAside>;
  /** The same for what was `late` when it was stored; no turn is touched. */
  giveUpLate(
    group: GroupChat,
    change: { readonly at: number; readonly tell: (found: SetAside) => SetAsideWords },
  ): Promise<SetAside>;
}

export interface OutboxStore {
  add(draft: OutgoingDraft, at: number): Promise<OutgoingMessage>;
  /** Rows that still have to be sent (`queued`, `sending`, `uncertain`) with `seq > after` (0 when absent), in order. */
  unsent(limit: number, after?: number): Promise<OutgoingMessage[]>;
  setState(seq: number, state: OutboxState, attempts: number, error?: string): Promise<void>;
  /** Rows of a channel with `seq > after`, in order, whatever their state, but for pruned ones. */
  ofChannel(channel: string, after: number, limit: number): Promise<OutgoingMessage[]>;
  /** What the agent said in a group, with `seq > after`, in order, whatever became of it, but for pruned rows. */
  saidIn(group: GroupChat, after: number, limit: number): Promise<OutgoingMessage[]>;
  /**
   * Is there a row of this chat whose turn id or `seq` is this text: did the agent say it? A `seq` does not count where a member's
   * message of the chat has it as its id.
   */
  isOwn(channel: string, chat: string, reference: string): Promise<boolean>;
  /** Key of the session in whose turn such a message was said; undefined: there is none, or the host said it. */
  sessionOf(channel: string, chat: string, reference: string): Promise<string | undefined>;
  counts(): Promise<Record<OutboxState, number>>;
  /** What a turn said, in order. */
  ofTurn(turn: string): Promise<OutgoingMessage[]>;
  get(seq: number): Promise<OutgoingMessage | undefined>;
  /** Newest first. */
  list(filter: {
    state?: OutboxState | undefined;
    group?: string | undefined;
    limit: number;
  }): Promise<OutgoingMessage[]>;
  /** Rows with a file that still have to be sent, or were made since then. */
  withFiles(since: number): Promise<OutgoingMessage[]>;
  /** Those of these rows that are `dead` or `uncertain`, and not pruned, become `queued` with no attempts. Returns their numbers, in order. */
  requeue(seqs: readonly number[], at: number): Promise<number[]>;
}

/** The store's own witness of the audit log, and an index into it. The log itself is files. */
export interface AuditIndex {
  head(): Promise<{ seq: number; hash: string } | undefined>;
  /** Up to which record the log may be signed; undefined before the first `willSign`. */
  signed(): Promise<number | undefined>;
  /** Resolves when everything up to this record, and that it is going to be signed, is on the disk. */
  willSign(seq: number): Promise<void>;
  /** Records of one batch, in order; the last one becomes the head. */
  append(
    records: readonly { seq: number; hash: string; type: string; group: string | undefined; file: string }[],
  ): Promise<void>;
}

/**
 * What a channel keeps for itself, such as an account's keys: small values by key, in spaces of its own naming. Values are
 * secrets and belong into no log.
 */
export interface ChannelStateStore {
  /** The values of these keys; keys without one are left out. */
  read(space: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** All of a space, in the order of the keys. */
  list(space: string): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Sets and (where the value is null) removes values, all of them or none. */
  apply(space: string, changes: ReadonlyMap<string, Uint8Array | null>): Promise<void>;
  /** Gives a space another name; what had that name before is removed. */
  rename(space: string, to: string): Promise<void>;
}

/** All state of a host. Asynchronous although SQLite is not: a second adapter will be. Every method is atomic. */
export interface Store extends AsyncDisposable {
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
  readonly interventions: InterventionStore;
  readonly blobs: BlobStore;
  readonly outbox: OutboxStore;
  readonly channelState: ChannelStateStore;
  readonly usage: UsageStore;
  readonly executionPoints: ExecutionPointStore;
  readonly audit: AuditIndex;
  readonly events: EventStore;
  readonly settings: SettingsStore;
  readonly erasure: ErasureStore;
  /** Writes something small to disk. Rejects as any write would while writing does not work. */
  probe(at: number): Promise<void>;
}
