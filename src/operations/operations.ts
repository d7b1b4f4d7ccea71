import type { ChannelState, LoginEvent, LoginOptions } from "../channels/channel.ts";
import type { Delta, MissedDeltas } from "../domain/delta.ts";
import type { HostEvent } from "../domain/events/event.ts";
import type { EventQuery } from "../records/events/read-events.ts";
import type { ConfigDifferences, ConfigState, ReloadReport } from "../domain/config-state.ts";
import type { ContextView } from "../domain/context-view.ts";
import type { Chat, Group, RequestState, Trigger } from "../domain/group.ts";
import type { SettingEdit, SettingRecord } from "../domain/setting.ts";
import type { NextHeartbeat } from "../domain/heartbeat.ts";
import type { OutboxState, OutgoingMessage } from "../domain/message.ts";
import type { RefusedMount } from "../domain/mount.ts";
import type { HotContainerView, SessionKind } from "../domain/session.ts";
import type { FolderOrigin, Origin } from "../domain/origin.ts";
import type { Role } from "../domain/role.ts";
import type { TurnState } from "../domain/turn.ts";
import type { UsageBy, UsageSum } from "../domain/usage.ts";
import type { Work, WorkState } from "../domain/work.ts";
import type { ApprovalOperations, ApprovalView, GrantView } from "./approvals/approval-view.ts";
import type { ContextQuery } from "./contexts.ts";
import type { ErasureOperations } from "./erasure-operations.ts";
import type { ImageBuildView, ImageOperations, ImageView } from "./images/image-view.ts";
import type { JobOperations, JobView } from "./jobs/job-view.ts";
import type { ModelOperations } from "./model-view.ts";
import type { McpOperations } from "./mcp/mcp-view.ts";
import type { SubAgentOperations, SubAgentView } from "./sub-agents/sub-agent-view.ts";
import type { TaskOperations } from "./tasks/task-view.ts";
import type { ParkedTurn, TurnLine, TurnReport, WaitingView } from "./turns/turn-view.ts";
import type { WebhookOperations, WebhookTest, WebhookView } from "./webhooks/webhook-view.ts";

export type { ContextQuery, ContextView, ErasureOperations, ImageOperations };
export type { McpToolAllowed } from "./mcp/mcp-view.ts";
export type { ModelView } from "./model-view.ts";
export type { ApprovalView, GrantView, ImageBuildView, ImageView, JobView, SubAgentView, WebhookTest, WebhookView };
export { taskFields } from "./tasks/task-fields.ts";
export type { NewOperatorTask, TaskAction, TaskRunView, TaskView } from "./tasks/task-view.ts";

export type {
  ParkedTurn,
  StepView,
  ToolCallView,
  ToolResultView,
  TurnLine,
  TurnReport,
  TurnUsage,
  TurnView,
  WaitingView,
} from "./turns/turn-view.ts";

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
  /** Groups that want packages and have not got them: they are being installed, or could not be. */
  readonly images: readonly ImageBuildView[];
  /** Chats that have asked to become groups and wait for an answer. */
  readonly requests: number;
  /** Tool calls that wait for people's answers. */
  readonly approvals: number;
  /** Installed plugins that are not used, and why. */
  readonly idlePlugins: readonly { readonly name: string; readonly reason: string }[];
  /** The next time that an agent looks by itself at what is due; null: none does. */
  readonly nextHeartbeat: NextHeartbeat | null;
  /** Webhooks of groups that are not there: their calls are refused. */
  readonly hooksWithoutGroup: readonly string[];
  /** Skills of whose source another version is known that is not installed. */
  readonly outdatedSkills: readonly string[];
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
  | "listModels"
  | "listTasks"
  | "taskHistory"
  | "listWork"
  | "listJobs"
  | "listPeople"
  | "listApprovals"
  | "showApproval"
  | "listSubAgents"
  | "showSubAgent"
  | "showContext"
>;

/** What an operator can ask of a running host. Rejects with AppErrors: `not_found`, `conflict`, `bad_input`. */
export interface Operations
  extends
    ApprovalOperations,
    TaskOperations,
    JobOperations,
    SubAgentOperations,
    WebhookOperations,
    ErasureOperations,
    McpOperations,
    ModelOperations,
    ImageOperations {
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
  /** What stands in the prompts of a conversation. Rejects with `not_found`. */
  showContext(query: ContextQuery): Promise<ContextView>;
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
  /** Throws `not_found` for a group that there is not. */
  usage(by: UsageBy, since: number, group?: string): Promise<readonly UsageSum[]>;
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
  /** What turns of this group, or of all, do from now on, until the signal. */
  watchDeltas(group: string | undefined, signal: AbortSignal): AsyncIterable<Delta | MissedDeltas>;
  listChannels(): Promise<readonly ChannelView[]>;
  /** Links a channel to an account. A channel that needs no login says so with its state. */
  login(channel: string, signal: AbortSignal, options?: LoginOptions): AsyncIterable<LoginEvent>;
}
