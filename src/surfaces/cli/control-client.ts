import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";

import type { Delta, MissedDeltas } from "../../domain/delta.ts";
import type { HostEvent } from "../../domain/events/event.ts";
import type { EventQuery } from "../../records/events/read-events.ts";
import type { LoginEvent } from "../../channels/channel.ts";
import type { ConfigDifferences, ReloadReport } from "../../domain/config-state.ts";
import type { SettingEdit, SettingRecord } from "../../domain/setting.ts";
import type { TestedServer } from "../../domain/mcp-server.ts";
import type { ErasureView } from "../../domain/erasure.ts";
import type { Chat, Group } from "../../domain/group.ts";
import type { FolderOrigin, Origin } from "../../domain/origin.ts";
import type { UsageBy, UsageSum } from "../../domain/usage.ts";
import type {
  ApprovalView,
  ChannelView,
  ContextQuery,
  ContextView,
  GrantView,
  GroupSettingView,
  GroupView,
  HostStatus,
  ImageBuildView,
  ImageView,
  McpToolAllowed,
  JobView,
  ModelView,
  NewGroup,
  NewOperatorTask,
  NewOperatorWork,
  Operations,
  OutboxView,
  Readings,
  PairingView,
  PersonView,
  SessionView,
  SettingView,
  StopView,
  TaskAction,
  TaskRunView,
  TaskView,
  SubAgentView,
  TurnLine,
  TurnReport,
  WebhookTest,
  WebhookView,
  WorkView,
} from "../../operations/operations.ts";
import { askSocket, readText } from "./control-socket.ts";

/** A line that is no event. */
export interface ToldDelta {
  readonly delta: Delta | MissedDeltas;
}

/** Longest silence of the host before a command gives up. A login may wait for a person and has none. */
const silenceMs = 30_000;

/**
 * Asks the running host through its control socket. Errors are those of the host; `no_host` when none is running.
 * Answers are believed: who can answer on that socket owns the home.
 */
export class ControlClient implements Readings {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  status(): Promise<HostStatus> {
    return this.#ask("GET", "/status");
  }

  applyConfig(): Promise<ReloadReport> {
    return this.#ask("POST", "/config/apply");
  }

  diffConfig(): Promise<ConfigDifferences> {
    return this.#ask("GET", "/config/diff");
  }

  getSetting(path: string): Promise<SettingView> {
    return this.#ask("GET", `/config/value?${queryOf({ path })}`);
  }

  editConfig(edits: readonly SettingEdit[]): Promise<ReloadReport> {
    return this.#ask("POST", "/config/edit", { edits });
  }

  showGroup(name: string): Promise<GroupSettingView[]> {
    return this.#ask("GET", `/groups/${encodeURIComponent(name)}/settings`);
  }

  setGroup(name: string, edits: readonly SettingEdit[]): Promise<ReloadReport> {
    return this.#ask("POST", `/groups/${encodeURIComponent(name)}/settings`, { edits });
  }

  configHistory(filter: Parameters<Readings["configHistory"]>[0]): Promise<SettingRecord[]> {
    return this.#ask("GET", `/config/history?${queryOf(filter)}`);
  }

  /** The host begins to stop; its home is free again when it has ended. */
  stop(): Promise<StopView> {
    return this.#ask("POST", "/stop");
  }

  listGroups(): Promise<GroupView[]> {
    return this.#ask("GET", "/groups");
  }

  addGroup(group: NewGroup): Promise<Group> {
    return this.#ask("POST", "/groups", group);
  }

  removeGroup(name: string): Promise<{ removed: string }> {
    return this.#ask("DELETE", `/groups/${encodeURIComponent(name)}`);
  }

  listFolderOrigins(group: string): Promise<FolderOrigin[]> {
    return this.#ask("GET", `/groups/${encodeURIComponent(group)}/origins`);
  }

  clearFolderOrigins(group: string, origin: Origin | undefined): Promise<{ group: string; cleared: Origin[] }> {
    return this.#ask("DELETE", `/groups/${encodeURIComponent(group)}/origins?${queryOf({ origin })}`);
  }

  listChats(): Promise<Chat[]> {
    return this.#ask("GET", "/chats");
  }

  approveRequest(
    code: string,
    name: string | undefined,
  ): Promise<{ approved: string; group: string; channel: string; chat: string }> {
    return this.#ask("POST", `/chats/requests/${encodeURIComponent(code)}/approve`, { name });
  }

  approvePairing(
    code: string,
    name: string | undefined,
  ): Promise<{ approved: string; group: string; channel: string; chat: string }> {
    return this.#ask("POST", `/pairings/${encodeURIComponent(code)}/approve`, { name });
  }

  listPeople(group: string | undefined): Promise<PersonView[]> {
    return this.#ask("GET", `/people${group === undefined ? "" : `?group=${encodeURIComponent(group)}`}`);
  }

  lookAtPerson(id: string): Promise<ErasureView> {
    return this.#ask("GET", `/people/${encodeURIComponent(id)}/words`);
  }

  /** Takes as long as it takes: turns are waited for, and all files are written anew. */
  erasePerson(id: string): Promise<ErasureView> {
    return this.#ask("DELETE", `/people/${encodeURIComponent(id)}/words`, undefined, 0);
  }

  listPairings(): Promise<PairingView[]> {
    return this.#ask("GET", "/pairings");
  }

  denyRequest(code: string): Promise<{ denied: string }> {
    return this.#ask("POST", `/chats/requests/${encodeURIComponent(code)}/deny`);
  }

  forgetRequest(code: string): Promise<{ forgotten: string }> {
    return this.#ask("DELETE", `/chats/requests/${encodeURIComponent(code)}`);
  }

  listImages(): Promise<ImageView[]> {
    return this.#ask("GET", "/images");
  }

  buildImages(group: string | undefined): Promise<ImageBuildView[]> {
    return this.#ask("POST", "/images/build", { group }, 0);
  }

  pruneImages(): Promise<string[]> {
    return this.#ask("POST", "/images/prune");
  }

  /** A server may take long to be installed and started. */
  testMcpServer(name: string): Promise<TestedServer> {
    return this.#ask("POST", `/mcp/${encodeURIComponent(name)}/test`, undefined, 0);
  }

  allowMcpTool(name: string, allowed: { readonly tool: string; readonly sha256: string }): Promise<McpToolAllowed> {
    return this.#ask("POST", `/mcp/${encodeURIComponent(name)}/allow`, allowed);
  }

  listSessions(): Promise<SessionView[]> {
    return this.#ask("GET", "/sessions");
  }

  stopSession(target: string): Promise<{ stopped: string[] }> {
    return this.#ask("POST", "/sessions/stop", { target });
  }

  showContext({ group, session, raw }: ContextQuery): Promise<ContextView> {
    const query = queryOf({ session, raw: raw === true || undefined });
    return this.#ask("GET", `/context/${encodeURIComponent(group)}?${query}`);
  }

  listTurns(filter: Parameters<Readings["listTurns"]>[0]): Promise<TurnLine[]> {
    return this.#ask("GET", `/turns?${queryOf(filter)}`);
  }

  showTurn(id: string, maxChars: number): Promise<TurnReport> {
    return this.#ask("GET", `/turns/${encodeURIComponent(id)}?maxChars=${maxChars}`);
  }

  retryTurn(id: string): Promise<{ turn: string; requeued: number }> {
    return this.#ask("POST", `/turns/${encodeURIComponent(id)}/retry`);
  }

  send(group: string, text: string): Promise<OutboxView> {
    return this.#ask("POST", "/send", { group, text });
  }

  listOutbox(filter: Parameters<Readings["listOutbox"]>[0]): Promise<OutboxView[]> {
    return this.#ask("GET", `/outbox?${queryOf(filter)}`);
  }

  retryOutbox(what: { readonly seq: number } | { readonly allDead: true }): Promise<{ retried: number[] }> {
    return this.#ask("POST", "/outbox/retry", what);
  }

  usage(by: UsageBy, since: number, group?: string): Promise<UsageSum[]> {
    return this.#ask("GET", `/usage?${queryOf({ by, since, group })}`);
  }

  listWork(filter: Parameters<Readings["listWork"]>[0]): Promise<WorkView[]> {
    return this.#ask("GET", `/work?${queryOf(filter)}`);
  }

  listTasks(group: string | undefined): Promise<TaskView[]> {
    return this.#ask("GET", `/tasks?${queryOf({ group })}`);
  }

  taskHistory(id: string, limit: number): Promise<TaskRunView[]> {
    return this.#ask("GET", `/tasks/${encodeURIComponent(id)}/history?${queryOf({ limit })}`);
  }

  addTask(task: NewOperatorTask): Promise<TaskView> {
    return this.#ask("POST", "/tasks", task);
  }

  actOnTask(id: string, action: TaskAction): Promise<TaskView> {
    return this.#ask("POST", `/tasks/${encodeURIComponent(id)}/${action}`);
  }

  addWork(work: NewOperatorWork): Promise<WorkView> {
    return this.#ask("POST", "/work", work);
  }

  dropWork(id: string): Promise<{ dropped: string }> {
    return this.#ask("DELETE", `/work/${encodeURIComponent(id)}`);
  }

  listApprovals(filter: Parameters<Readings["listApprovals"]>[0]): Promise<(ApprovalView | GrantView)[]> {
    return this.#ask("GET", `/approvals?${queryOf({ group: filter.group, all: filter.all || undefined })}`);
  }

  showApproval(code: string): Promise<ApprovalView> {
    return this.#ask("GET", `/approvals/${encodeURIComponent(code)}`);
  }

  answerApproval(code: string, answer: Parameters<Operations["answerApproval"]>[1]): Promise<ApprovalView> {
    const { allow, scope, reason, values } = answer;
    const body = { decision: allow ? "allow" : "deny", scope, reason, values };
    return this.#ask("POST", `/approvals/${encodeURIComponent(code)}`, body);
  }

  revokeApproval(id: string): Promise<GrantView> {
    return this.#ask("DELETE", `/approvals/${encodeURIComponent(id)}`);
  }

  listWebhooks(): Promise<WebhookView[]> {
    return this.#ask("GET", "/hooks");
  }

  testWebhook(name: string, body: string): Promise<WebhookTest> {
    return this.#ask("POST", `/hooks/${encodeURIComponent(name)}/test`, { text: body });
  }

  listModels(): Promise<ModelView[]> {
    return this.#ask("GET", "/models");
  }

  forgetModels(name: string | undefined): Promise<{ readonly forgotten: readonly string[] }> {
    return this.#ask("POST", "/models/forget", { name });
  }

  listJobs({ group, all, limit }: Parameters<Operations["listJobs"]>[0]): Promise<JobView[]> {
    return this.#ask("GET", `/jobs?${queryOf({ group, all: all || undefined, limit })}`);
  }

  stopJob(id: string, session: string | undefined): Promise<JobView> {
    return this.#ask("POST", `/jobs/${encodeURIComponent(id)}/stop`, { session });
  }

  listSubAgents(filter: Parameters<Readings["listSubAgents"]>[0]): Promise<SubAgentView[]> {
    return this.#ask("GET", `/agents?${queryOf({ group: filter.group, all: filter.all || undefined })}`);
  }

  showSubAgent(id: string): Promise<SubAgentView> {
    return this.#ask("GET", `/agents/${encodeURIComponent(id)}`);
  }

  cancelSubAgent(id: string): Promise<SubAgentView> {
    return this.#ask("DELETE", `/agents/${encodeURIComponent(id)}`);
  }

  listChannels(): Promise<ChannelView[]> {
    return this.#ask("GET", "/channels");
  }

  /** Events as the channel tells them; ends when the login has, and ends the login when it is left early. */
  async *login(channel: string, phoneNumber?: string): AsyncGenerator<LoginEvent> {
    const body = phoneNumber === undefined ? undefined : { phoneNumber };
    const answer = await this.#send("POST", `/channels/${encodeURIComponent(channel)}/login`, { body, silenceMs: 0 });
    try {
      for await (const line of createInterface({ input: answer })) yield JSON.parse(line) as LoginEvent;
    } finally {
      answer.destroy();
    }
  }

  /** Those that are stored; with `follow` also those that come, until it is left, and with `deltas` what turns do meanwhile. */
  async *tailEvents(
    { after, last, type, group }: EventQuery,
    { follow, deltas }: { readonly follow: boolean; readonly deltas: boolean },
  ): AsyncGenerator<HostEvent | ToldDelta> {
    const more = { follow: follow || undefined, deltas: deltas || undefined };
    const path = `/events?${queryOf({ after, last, type, group, ...more })}`;
    const answer = await this.#send("GET", path, { silenceMs: follow ? 0 : silenceMs });
    try {
      for await (const line of createInterface({ input: answer })) yield JSON.parse(line) as HostEvent | ToldDelta;
    } finally {
      answer.destroy();
    }
  }

  /** `longestMs`: 0: however long it takes. */
  async #ask<Answer>(method: string, path: string, body?: object, longestMs = silenceMs): Promise<Answer> {
    const answer = await this.#send(method, path, { body, silenceMs: longestMs });
    return JSON.parse(await readText(answer)) as Answer;
  }

  async #send(
    method: string,
    path: string,
    options: { body?: object | undefined; silenceMs: number },
  ): Promise<IncomingMessage> {
    return askSocket({ socketPath: this.#socketPath, method, path, ...options });
  }
}

function queryOf(given: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  return query.toString();
}
