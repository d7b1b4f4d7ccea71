import type { Chat, Group, GroupFolder } from "../domain/group.ts";
import type { Sender, StoredMessage } from "../domain/message.ts";
import type { ModelUsage } from "../domain/model.ts";
import type { Role } from "../domain/role.ts";
import { agentOfSession, type HotContainerView } from "../domain/session.ts";
import type { Step, Turn } from "../domain/turn.ts";
import { AppError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { utcDay } from "../lib/time/utc-day.ts";
import type { OutboxStore, Store, TurnOutline } from "../stores/store.ts";
import type { GroupView, Readings, SessionView } from "./operations.ts";
import { listApprovals, showApproval, viewApproval } from "./approvals/approvals.ts";
import { type ContextOptions, showContext } from "./contexts.ts";
import { listJobs } from "./jobs/jobs.ts";
import { listModels, type ModelReadingOptions } from "./models.ts";
import { listOutbox } from "./outbox.ts";
import { listPeople, type PeopleOptions } from "./people.ts";
import { requireGroup } from "./require-group.ts";
import { resolveId } from "./resolve-id.ts";
import { listTasks, taskHistory } from "./tasks/tasks.ts";
import { listSubAgents, showSubAgent } from "./sub-agents/sub-agents.ts";
import { lineTurns } from "./turns/turn-lines.ts";
import { reportTurn } from "./turns/turn-report.ts";
import { type WaitingOptions, waitingIn } from "./waiting.ts";
import { listWork } from "./work.ts";
import { ownCommand } from "../lib/process/own-command.ts";

/** What readings are made of: each is the smallest piece of the part that knows. */
export interface ReadingOptions extends WaitingOptions {
  readonly store: WaitingOptions["store"] & {
    readonly messages: { ofTurn(turn: string): Promise<StoredMessage[]> };
    readonly chats: {
      list(): Promise<Chat[]>;
      get(channel: string, chat: string): Promise<Chat | undefined>;
      members(group: string): Promise<readonly Sender[]>;
    };
    readonly sessions: Pick<Store["sessions"], "list">;
    readonly work: Pick<Store["work"], "list">;
    readonly approvals: Pick<Store["approvals"], "get" | "grants" | "list" | "ofTurn" | "open">;
    readonly tasks: Pick<Store["tasks"], "idsBeginningWith" | "list" | "runs">;
    readonly jobs: Pick<Store["jobs"], "list">;
    readonly subAgents: Pick<Store["subAgents"], "get" | "list">;
    readonly turns: {
      get(id: string): Promise<Turn | undefined>;
      idsBeginningWith(prefix: string, limit: number): Promise<string[]>;
      outlines(turns: readonly string[]): Promise<ReadonlyMap<string, TurnOutline>>;
      list(filter: { group?: string | undefined; limit: number }): Promise<Turn[]>;
      steps(turn: string): Promise<Step[]>;
    };
    readonly origins: Pick<Store["origins"], "ofFolder">;
    readonly outbox: Pick<OutboxStore, "list" | "ofTurn">;
    readonly executionPoints: Pick<Store["executionPoints"], "ofTurn">;
    readonly usage: Pick<Store["usage"], "learnedWindows" | "sums" | "tokenFactors">;
    readonly settings: Pick<Store["settings"], "history">;
  };
  readonly groups: WaitingOptions["groups"] & {
    folders(): Promise<readonly GroupFolder[]>;
    /** The same groups with what is set for them. Throws where that is not known. */
    settings(): readonly Group[];
  };
  readonly people: PeopleOptions["people"] & {
    readonly triggerRole: (group: string) => Role;
    readonly members: (group: string) => GroupView["members"];
  };
  readonly pool: { list(): HotContainerView[] };
  readonly clock: Pick<Clock, "now">;
  readonly viewContext: ContextOptions["viewContext"];
  /** What a model of the routes asks for this, in US dollars; undefined when its price is not known. */
  readonly costOf: (model: string, usage: ModelUsage) => number | undefined;
  readonly models: ModelReadingOptions["models"];
}

/** What the operator can look at without anything being changed, in a running host or in what one has left. */
export function createReadings(options: ReadingOptions): Readings {
  return {
    listGroups: () => listGroups(options),
    listFolderOrigins: async (name) => options.store.origins.ofFolder(requireGroup(options.groups.list(), name).name),
    listPeople: (group) => listPeople(options, group),
    listChats: () => options.store.chats.list(),
    listSessions: () => listSessions(options),
    listTurns: async ({ group, state, limit }) => {
      if (group !== undefined) requireGroup(options.groups.list(), group);
      const turns = await options.store.turns.list({ group, limit: state === undefined ? limit : 1000 });
      return lineTurns(options, turns.filter((turn) => state === undefined || turn.state === state).slice(0, limit));
    },
    showTurn: async (id, maxChars) => {
      const turn = await findTurn(options, id);
      const [messages, steps, said, executionPoints, waiting] = await Promise.all([
        options.store.messages.ofTurn(turn.id),
        options.store.turns.steps(turn.id),
        options.store.outbox.ofTurn(turn.id),
        options.store.executionPoints.ofTurn(turn.id),
        waitingIn(options),
      ]);
      const approvals = (await options.store.approvals.ofTurn(turn.id)).map(viewApproval);
      const found = { messages, steps, said, approvals, executionPoints, costOf: options.costOf };
      return reportTurn({ ...turn, waiting: waiting.get(turn.group) }, found, maxChars);
    },
    showContext: (query) => showContext(options, query),
    listOutbox: (filter) => listOutbox(options, filter),
    usage: async (by, since, group) => {
      if (group !== undefined) requireGroup(options.groups.list(), group);
      return options.store.usage.sums(by, utcDay(since), { group });
    },
    listModels: () => listModels(options),
    listTasks: (group) => listTasks(options, group),
    taskHistory: (id, limit) => taskHistory(options, id, limit),
    listWork: (filter) => listWork(options, filter),
    listJobs: (filter) => listJobs(options, filter),
    listApprovals: (filter) => listApprovals(options, filter),
    showApproval: (code) => showApproval(options, code),
    listSubAgents: (filter) => listSubAgents(options, filter),
    showSubAgent: (id) => showSubAgent(options, id),
    configHistory: (filter) => options.store.settings.history(filter),
  };
}

async function listGroups({ groups, store, people }: ReadingOptions): Promise<GroupView[]> {
  const folders = new Map((await groups.folders()).map((folder) => [folder.name, folder]));
  return Promise.all(
    groups.settings().map(async (group) => {
      const chat = await store.chats.get(group.channel, group.chat);
      const instructions = folders.get(group.name)?.instructions.values() ?? [];
      const instructionsChangedAt = [...instructions].map(({ changedAt }) => changedAt).toSorted(newestFirst)[0];
      const access = { triggerRole: people.triggerRole(group.name), members: people.members(group.name) };
      return { ...group, ...access, title: chat?.title, left: chat?.left, instructionsChangedAt };
    }),
  );
}

/** Undefined counts as never. */
function newestFirst(one: number | undefined, other: number | undefined): number {
  return (other ?? 0) - (one ?? 0);
}

async function listSessions(options: ReadingOptions): Promise<SessionView[]> {
  const hot = new Map(options.pool.list().map((container) => [container.session, container]));
  const sessions = await options.store.sessions.list();
  return sessions
    .filter(({ archivedAt }) => archivedAt === undefined)
    .map((session) => {
      const container = hot.get(session.id);
      return {
        session: session.id,
        key: session.key,
        kind: session.kind,
        agent: agentOfSession(session),
        parent: session.parent,
        group: session.group,
        conversation: session.conversation,
        generation: session.generation,
        container: container && { name: container.name, state: container.state, lastUsedAt: container.lastUsedAt },
      };
    });
}

/** By its id or a beginning that no other has. Throws `not_found`, or `bad_input` where several begin like this. */
export async function findTurn(
  { store }: { readonly store: { readonly turns: Pick<ReadingOptions["store"]["turns"], "get" | "idsBeginningWith"> } },
  given: string,
): Promise<Turn> {
  const id = await resolveId(given, {
    what: "turn",
    list: ownCommand("turns list"),
    beginningWith: (prefix, limit) => store.turns.idsBeginningWith(prefix, limit),
  });
  const turn = await store.turns.get(id);
  if (turn !== undefined) return turn;
  throw new AppError("not_found", `The turn ${id} was removed just now.`);
}
