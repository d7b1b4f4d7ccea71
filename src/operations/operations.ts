import type { ChannelState, LoginEvent, LoginOptions } from "../channels/channel.ts";
import type { HostEvent } from "../events/event.ts";
import type { EventQuery } from "../events/read-events.ts";
import type { ConfigDifferences, ConfigState, ReloadReport } from "../domain/config-state.ts";
import type { Chat, Group, RequestState, Trigger } from "../domain/group.ts";
import type { SettingEdit, SettingRecord } from "../domain/setting.ts";
import type { ModelUsage, StopReason } from "../domain/model.ts";
import type { NextHeartbeat } from "../domain/heartbeat.ts";
import type { OutboxState, OutgoingMessage } from "../domain/message.ts";
import type { ExecutionPointChange, RefusedMount } from "../domain/mount.ts";
import type { HotContainerView, SessionKind } from "../domain/session.ts";
import type { FolderOrigin, Origin } from "../domain/origin.ts";
import type { Action, Risk } from "../domain/policy.ts";
import type { Role } from "../domain/role.ts";
import type { Turn, TurnState, TurnTimes } from "../domain/turn.ts";
import type { UsageBy, UsageSum } from "../domain/usage.ts";
import type { Work, WorkState } from "../domain/work.ts";
import type { ApprovalOperations, ApprovalView, GrantView } from "./approvals/approval-view.ts";
import type { ErasureOperations } from "./erasure-operations.ts";
import type { JobOperations, JobView } from "./jobs/job-view.ts";
import type { SubAgentOperations, SubAgentView } from "./sub-agents/sub-agent-view.ts";
import type { TaskOperations } from "./tasks/task-view.ts";
import type { WebhookOperations, WebhookTest, WebhookView } from "./webhooks/webhook-view.ts";

export type { ErasureOperations };
export type { ApprovalView, GrantView, JobView, SubAgentView, WebhookTest, WebhookView };
export { taskFields } from "./tasks/task-fields.ts";
export type { NewOperatorTask, TaskAction, TaskRunView, TaskView } from "./tasks/task-view.ts";

/** How a running host is doing. Times are milliseconds since 1970. */
export interface HostStatus {
  readonly version: string;
  readonly instance: string;
  readonly home: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly uptimeSeconds: number;
  /** Are messages taken in? If not, why. */
  readonly intake: { readonly open: boolean; readonly code?: string | undefined; readonly reason?: string | undefined };
  /** What became of the files of the configuration when they were last read. */
  readonly config: ConfigState;
  readonly assistant: string;
  /** Models of the default route, in the order in which they are tried. */
  readonly models: readonly string[];
  readonly engine: EngineView;
  readonly channels: readonly ChannelView[];
  readonly groups: number;
  /** What groups ask for and do not get, and why. */
  readonly refusedMounts: readonly RefusedMount[];
  /** Chats that have asked to become groups and wait for an answer. */
  readonly requests: number;
  /** Tool calls that wait for people's answers. */
  readonly approvals: number;
  /** The next time that an agent looks by itself at what is due; null: none does. */
  readonly nextHeartbeat: NextHeartbeat | null;
  /** Webhooks of groups that are not there: their calls are refused. */
  readonly hooksWithoutGroup: readonly string[];
  /** Those that are done do not count. */
  readonly tasks: { readonly active: number; readonly paused: number };
  /** `max` is null when memory alone says how many there may be. */
  readonly containers: { readonly hot: number; readonly busy: number; readonly max: number | null };
  /** `parked`: those of the running ones that wait for people, with the codes of what they have asked. */
  readonly turns: { readonly running: number; readonly waitingGroups: number; readonly parked: readonly ParkedTurn[] };
  /** Messages that no turn has taken yet, by group, the group that has waited longest first. */
  readonly waiting: readonly WaitingView[];
  /** `uncertain`: sent or not, nobody knows; they count as unsent as well. */
  readonly outbox: { readonly unsent: number; readonly uncertain: number; readonly dead: number };
  /** Of the current day (UTC), all groups together; `usdPerDay` is what they may spend, null without a limit. */
  readonly today: {
    readonly calls: number;
    readonly tokens: number;
    readonly usd: number;
    readonly usdPerDay: number | null;
  };
}

/** The process that is going to end, and how many turns are to end before. */
export interface StopView {
  readonly pid: number;
  readonly runningTurns: number;
}

export interface WaitingView {
  readonly group: string;
  readonly messages: number;
  readonly oldestAt: number;
}

/** A turn, and what waits in its group for the next one or for the next step of this one. */
export interface TurnView extends Turn {
  readonly waiting: Omit<WaitingView, "group"> | undefined;
}

/** A turn that people have to answer before it goes on. */
export interface ParkedTurn {
  readonly turn: string;
  readonly group: string;
  /** Codes of its open questions. */
  readonly waitsFor: readonly string[];
}

/** A turn in a list: with what it is about and what it cost. */
export interface TurnLine extends TurnView {
  /** Codes of what people have to answer before it goes on; undefined: it does not wait for them. */
  readonly waitsFor: readonly string[] | undefined;
  /** Who asked; undefined when no message made it begin, or when it is not kept any more. */
  readonly member: string | undefined;
  /** First line of the message or the work that made it begin, shortened. */
  readonly question: string | undefined;
  /** US dollars for the answers of models; undefined when a price is not known or the answers are not kept any more. */
  readonly usd: number | undefined;
}

export interface EngineView {
  readonly ok: boolean;
  /** Kind, version and address, or why there is none. */
  readonly detail: string;
}

export interface ChannelView extends ChannelState {
  readonly name: string;
}

/** A group with what its platform says of its chat. */
export interface GroupView extends Group {
  /** From which role on somebody may set its agent to work. */
  readonly triggerRole: Role;
  /** Roles that are given there by id, and to all others. */
  readonly members: { readonly default?: Role | undefined; readonly [key: string]: Role | undefined };
  readonly title: string | undefined;
  readonly left: boolean | undefined;
  /** When its AGENTS.md was last found to be another one than before, milliseconds since 1970. */
  readonly instructionsChangedAt: number | undefined;
}

/** Somebody in a group. */
export interface PersonView {
  /** As `members` and `people` of the configuration have it. */
  readonly id: string;
  /** What they call themselves; undefined for somebody who has not written there. */
  readonly name: string | undefined;
  /** What the configuration calls them. */
  readonly person: string | undefined;
  readonly group: string;
  readonly role: Role;
  /** What gives them the role. */
  readonly why: string;
}

/** Somebody who wrote directly. */
export interface PairingView {
  readonly code: string;
  readonly state: RequestState;
  readonly channel: string;
  readonly chat: string;
  /** As `members` and `people` of the configuration have it. */
  readonly id: string;
  /** What they call themselves; anybody may choose any name. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A group that is added at run time; what is left out is as in the settings for everybody. Mounts are given only in `config.yaml`. */
export interface NewGroup {
  readonly name: string;
  readonly channel: string;
  readonly chat: string;
  readonly trigger?: Trigger | undefined;
  readonly main?: boolean | undefined;
  readonly model?: string | undefined;
  /** It gets the folder of its name although that is, or may be, another chat's. */
  readonly adopt?: boolean | undefined;
}

/** A setting by its path, and its value as far as it may be shown. */
export interface SettingView {
  readonly path: string;
  readonly value: unknown;
}

/** A setting of a group. `from`: `config.yaml`, `groups set`, or `default`, the settings for everybody; `chat` for what a group is. */
export interface GroupSettingView extends SettingView {
  readonly from: string;
}

/** A session and, if it has one, its container. */
export interface SessionView {
  readonly session: string;
  readonly key: string;
  readonly kind: SessionKind;
  /** Id of its agent. */
  readonly agent: string;
  /** Id of the session that it works for. */
  readonly parent: string | undefined;
  readonly group: string;
  readonly conversation: number;
  readonly generation: number;
  readonly container: Pick<HotContainerView, "name" | "state" | "lastUsedAt"> | undefined;
}

/** Everything that happened in a turn, in order, texts shortened. */
export interface TurnReport {
  readonly turn: TurnView;
  readonly elapsedMs: number | undefined;
  /** Where the time went, in milliseconds; as far as it is known. */
  readonly times: TurnTimes;
  readonly messages: readonly {
    readonly id: string;
    readonly sender: string;
    readonly text: string;
    readonly receivedAt: number;
    /** Too old: its text and its sender's name are not kept any more. */
    readonly pruned?: boolean | undefined;
  }[];
  readonly steps: readonly StepView[];
  /** Calls that people were asked about. */
  readonly approvals: readonly ApprovalView[];
  /** Files in the group's mounts that programs on the host run by themselves, and that the turn has added, changed or removed. */
  readonly executionPoints: readonly (ExecutionPointChange & { readonly at: number })[];
  readonly usage: ModelUsage;
  /** What the turn has read, or its conversation before it; undefined: it was not kept at that time. */
  readonly origins: readonly Origin[] | undefined;
  /** The agent answered that it had nothing to say in the chat. */
  readonly silent?: true | undefined;
  /** Too old: its steps are not kept any more, nor what they used. */
  readonly pruned?: boolean | undefined;
}

interface StepTime {
  readonly seq: number;
  readonly at: number;
  /** Milliseconds since the turn began. */
  readonly afterMs: number;
}

export type StepView =
  | (StepTime & { readonly kind: "user"; readonly text: string })
  | (StepTime & {
      readonly kind: "model";
      readonly model: string;
      readonly stop: StopReason;
      readonly usage: ModelUsage;
      readonly text: string;
      readonly toolCalls: readonly ToolCallView[];
      readonly denied: readonly ToolResultView[];
    })
  | (StepTime & { readonly kind: "tools"; readonly results: readonly ToolResultView[] });

/** A call, its input shortened, with what was decided about it; undefined where that was not kept. */
export interface ToolCallView {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly action: Action | undefined;
  readonly risk: Risk | undefined;
  readonly rule: string | undefined;
}

export interface ToolResultView {
  readonly callId: string;
  readonly output: string;
  /** Length of the whole output. */
  readonly chars: number;
  readonly isError: boolean;
}

/** A message of the outbox, its text shortened. */
export type OutboxView = OutgoingMessage;

/** What an operator gives an agent to do. */
export interface NewOperatorWork {
  readonly group: string;
  readonly text: string;
  /** Names a session beside the group's main one; undefined: the main one. */
  readonly session?: string | undefined;
  /** The answer goes nowhere. */
  readonly silent: boolean;
}

/** Work, its text shortened. */
export type WorkView = Work;

/** What an operator can look at also when no host runs. */
export type Readings = Pick<
  Operations,
  | "configHistory"
  | "listGroups"
  | "listFolderOrigins"
  | "listChats"
  | "listSessions"
  | "listTurns"
  | "showTurn"
  | "listOutbox"
  | "usage"
  | "listTasks"
  | "taskHistory"
  | "listWork"
  | "listJobs"
  | "listPeople"
  | "listApprovals"
  | "showApproval"
  | "listSubAgents"
  | "showSubAgent"
>;

/** What an operator can ask of a running host. Rejects with AppErrors: `not_found`, `conflict`, `bad_input`. */
export interface Operations
  extends ApprovalOperations, TaskOperations, JobOperations, SubAgentOperations, WebhookOperations, ErasureOperations {
  status(): Promise<HostStatus>;
  /** Reads the files of the configuration again and applies what can hold now. An invalid file is an answer, not an error. */
  applyConfig(): Promise<ReloadReport>;
  diffConfig(): Promise<ConfigDifferences>;
  /** The value in effect, secrets masked; null where the setting is not set. */
  getSetting(path: string): Promise<SettingView>;
  /** Changes config.yaml, all of it or nothing, and applies it. Rejects with `config_invalid` where the file could not be used then. */
  editConfig(edits: readonly SettingEdit[]): Promise<ReloadReport>;
  /** Every setting of a group with the value that it has. Rejects with `not_found`. */
  showGroup(name: string): Promise<readonly GroupSettingView[]>;
  /** Changes what a group says itself, in config.yaml or in the store; paths begin below the group. Rejects like `editConfig`, and with `mount_denied`. */
  setGroup(name: string, edits: readonly SettingEdit[]): Promise<ReloadReport>;
  /** Changes that took effect, newest first; `path`: of this setting and those below it. */
  configHistory(filter: {
    readonly path?: string | undefined;
    readonly limit: number;
  }): Promise<readonly SettingRecord[]>;
  /** Begins an orderly stop once the signal has aborted: whoever asks can be told before. */
  stop(answered: AbortSignal): Promise<StopView>;
  listGroups(): Promise<readonly GroupView[]>;
  addGroup(group: NewGroup): Promise<Group>;
  removeGroup(name: string): Promise<void>;
  /** What the group's folder carries of what its agents have read, in the order of `origins`. */
  listFolderOrigins(group: string): Promise<readonly FolderOrigin[]>;
  /** Lets the folder carry this origin no more, or none. Returns those that it carried. Throws `bad_input` for no origin. */
  clearFolderOrigins(group: string, origin: string | undefined): Promise<readonly Origin[]>;
  /** In all groups, or in this one. */
  listPeople(group: string | undefined): Promise<readonly PersonView[]>;
  listChats(): Promise<readonly Chat[]>;
  /** Lets a chat in that asked: it becomes a group, of this name or of one like its title. */
  approveRequest(code: string, name: string | undefined): Promise<Group>;
  /** The same for somebody who wrote directly; `not_found` also for a code whose hour is over. */
  approvePairing(code: string, name: string | undefined): Promise<Group>;
  /** Who has got a code that is still valid, and who was denied. */
  listPairings(): Promise<readonly PairingView[]>;
  /** The chat that asked stays silent. */
  denyRequest(code: string): Promise<void>;
  /** Forgets what a chat asked and how it was answered: it may ask again. */
  forgetRequest(code: string): Promise<void>;
  listSessions(): Promise<readonly SessionView[]>;
  /** Ends the containers of a session or group, given by id or its beginning, key or group name. Returns the names of the containers that were ended. */
  stopSession(target: string): Promise<readonly string[]>;
  listTurns(filter: {
    readonly group?: string | undefined;
    readonly state?: TurnState | undefined;
    readonly limit: number;
  }): Promise<readonly TurnLine[]>;
  /** By its id or a beginning that no other has, as everywhere. `maxChars`: where texts are cut. */
  showTurn(id: string, maxChars: number): Promise<TurnReport>;
  /** Puts the messages of a failed turn back in line. Returns its id and how many. */
  retryTurn(id: string): Promise<{ readonly turn: string; readonly requeued: number }>;
  /** Says something in the group's chat as the host. The agent is not told. */
  send(group: string, text: string): Promise<OutboxView>;
  /** Newest first. */
  listOutbox(filter: {
    readonly state?: OutboxState | undefined;
    readonly group?: string | undefined;
    readonly limit: number;
  }): Promise<readonly OutboxView[]>;
  /** Puts a given up or uncertain message, or everything that was given up, back in line. Returns what was. */
  retryOutbox(what: { readonly seq: number } | { readonly allDead: true }): Promise<readonly number[]>;
  /** What model calls have used since this moment; whole days (UTC). */
  usage(by: UsageBy, since: number): Promise<readonly UsageSum[]>;
  /** Newest first. */
  listWork(filter: {
    readonly group?: string | undefined;
    readonly state?: WorkState | undefined;
    readonly limit: number;
  }): Promise<readonly WorkView[]>;
  addWork(work: NewOperatorWork): Promise<WorkView>;
  /** Gives up work that no turn has taken. Returns its id. */
  dropWork(id: string): Promise<string>;
  /** Stored events in order; with `follow` also those that come, until the signal. Throws `bad_input` for an unknown type. */
  tailEvents(query: EventQuery, follow: AbortSignal | undefined): AsyncIterable<HostEvent>;
  listChannels(): Promise<readonly ChannelView[]>;
  /** Links a channel to an account. A channel that needs no login says so with its state. */
  login(channel: string, signal: AbortSignal, options?: LoginOptions): AsyncIterable<LoginEvent>;
}
