import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";

import type { HostEvent } from "../events/event.ts";
import type { EventQuery } from "../events/read-events.ts";
import type { LoginEvent } from "../channels/channel.ts";
import type { ConfigDifferences, ReloadReport } from "../domain/config-state.ts";
import type { SettingEdit, SettingRecord } from "../domain/setting.ts";
import type { ErasureView } from "../domain/erasure.ts";
import type { Chat, Group } from "../domain/group.ts";
import type { FolderOrigin, Origin } from "../domain/origin.ts";
import type { UsageBy, UsageSum } from "../domain/usage.ts";
import type {
  ApprovalView,
  ChannelView,
  GrantView,
  GroupSettingView,
  GroupView,
  HostStatus,
  JobView,
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
} from "../operations/operations.ts";
import { AppError, errorCode, isErrorCode, toError } from "../lib/app-error.ts";
import type { ErrorCode } from "../lib/app-error.ts";
import { withShortPath } from "../lib/files/socket-path.ts";

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
  async erasePerson(id: string): Promise<ErasureView> {
    const answer = await this.#send("DELETE", `/people/${encodeURIComponent(id)}/words`, { silenceMs: 0 });
    return JSON.parse(await readText(answer)) as ErasureView;
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

  listSessions(): Promise<SessionView[]> {
    return this.#ask("GET", "/sessions");
  }

  stopSession(target: string): Promise<{ stopped: string[] }> {
    return this.#ask("POST", "/sessions/stop", { target });
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

  usage(by: UsageBy, since: number): Promise<UsageSum[]> {
    return this.#ask("GET", `/usage?${queryOf({ by, since })}`);
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
    const { allow, scope, reason } = answer;
    const body = { decision: allow ? "allow" : "deny", scope, reason };
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

  /** Those that are stored; with `follow` also those that come, until it is left. */
  async *tailEvents({ after, last, type, group }: EventQuery, follow: boolean): AsyncGenerator<HostEvent> {
    const path = `/events?${queryOf({ after, last, type, group, follow: follow || undefined })}`;
    const answer = await this.#send("GET", path, { silenceMs: follow ? 0 : silenceMs });
    try {
      for await (const line of createInterface({ input: answer })) yield JSON.parse(line) as HostEvent;
    } finally {
      answer.destroy();
    }
  }

  async #ask<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await this.#send(method, path, { body, silenceMs });
    return JSON.parse(await readText(answer)) as Answer;
  }

  async #send(
    method: string,
    path: string,
    options: { body?: object | undefined; silenceMs: number },
  ): Promise<IncomingMessage> {
    const answer = await withShortPath(this.#socketPath, (socketPath) =>
      exchange({ socketPath, method, path: `/v1/control${path}`, ...options }),
    ).catch((error: unknown) => {
      throw toConnectionError(toError(error));
    });
    if (answer.statusCode === 200) return answer;
    throw toAppError(answer.statusCode ?? 0, await readText(answer));
  }
}

/** Nobody listens: what a host has left is all that there is to know. */
export function isWithoutHost(error: unknown): boolean {
  return error instanceof AppError && error.code === "no_host" && absences.has(errorCode(error.cause));
}

function queryOf(given: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  return query.toString();
}

interface Exchange {
  readonly socketPath: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
  readonly silenceMs: number;
}

async function exchange({ socketPath, method, path, body, silenceMs: timeout }: Exchange): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  const sent = request({ socketPath, method, path, headers, timeout, agent: false }, resolve);
  sent.once("timeout", () => sent.destroy(new AppError("no_host", `The host has not answered for ${timeout} ms.`)));
  sent.once("error", reject);
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

const absences: ReadonlySet<string> = new Set(["ENOENT", "ECONNREFUSED", "ENOTDIR"]);

function toConnectionError(error: Error): Error {
  if (error instanceof AppError) return error;
  const code = errorCode(error);
  if (code === "EACCES") {
    return new AppError("unauthorized", "The control socket belongs to another user.", {
      cause: error,
      fix: "Run the command as the user that runs the host.",
    });
  }
  const running = !absences.has(code);
  return new AppError(
    "no_host",
    running ? `The host closed the connection: ${error.message}.` : "No host is running.",
    {
      cause: error,
      fix: "Start one with `npm start`, or set CRABPOT_HOME to the home of the one that runs.",
    },
  );
}

async function readText(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function toAppError(status: number, text: string): AppError {
  const { error } = JSON.parse(text) as { error: { code: string; message: string; fix?: string } };
  const code: ErrorCode = isErrorCode(error.code) ? error.code : "store_failed";
  const message = error.message || `The host answered with status ${status}.`;
  return new AppError(code, message, error.fix === undefined ? {} : { fix: error.fix });
}
