import type { Role } from "../domain/people/role.ts";
import { memoize } from "../lib/memoize.ts";
import type { ApprovalReadingNeeds } from "../operations/approvals/operations.ts";
import type { listChats } from "../operations/chats/operations.ts";
import type { ContextNeeds } from "../operations/contexts/operations.ts";
import type { AnyOperation, Intersection, NeedsOf } from "../operations/definition/define-operation.ts";
import type { GroupReadingNeeds } from "../operations/groups/operations.ts";
import type { listJobs } from "../abilities/jobs/operations.ts";
import type { ModelReadingNeeds } from "../operations/models/operations.ts";
import type { listOutbox } from "../operations/outbox/operations.ts";
import type { PeopleNeeds } from "../operations/people/operations.ts";
import type { SessionReadingNeeds } from "../operations/sessions/operations.ts";
import type { configHistory } from "../operations/settings/operations.ts";
import type { SubAgentReadingNeeds } from "../abilities/sub-agents/operations.ts";
import type { TaskReadingNeeds } from "../abilities/tasks/operations.ts";
import type { TurnReadingNeeds } from "../operations/turns/operations.ts";
import type { UsageNeeds } from "../operations/usage/operations.ts";
import type { listWork } from "../operations/work/operations.ts";

/** Operations whose commands begin with the same word. */
export interface Family {
  /** For the help of the command line. */
  readonly summary: string;
  /**
   * The command in chats, for those of its operations that have a form there; absent: none, or one with its own file.
   */
  readonly chat?: { readonly help: string; readonly takes?: string; readonly needs: Role } | undefined;
  readonly load: () => Promise<readonly AnyOperation[]>;
}

/**
 * Every operation, the only place that names all of them: by the first word of its command, so that a command loads one
 * family. Programs with many commands load all: `loadOperations`.
 */
export const families = {
  status: {
    summary: "show how the running host is doing",
    load: async () => [(await import("../operations/host/operations.ts")).readStatus] as const,
  },
  stop: {
    summary: "stop the running host",
    load: async () => [(await import("../operations/host/operations.ts")).stop] as const,
  },
  config: {
    summary: "check, change and apply the configuration",
    load: async () => (await import("../operations/settings/operations.ts")).configOperations,
  },
  reload: {
    summary: "reload the configuration of the running host",
    load: async () => [(await import("../operations/settings/operations.ts")).applyConfig] as const,
  },
  groups: {
    summary: "list, add, change or remove groups",
    load: async () => {
      const [{ groupOperations }, { groupSettingOperations }] = await Promise.all([
        import("../operations/groups/operations.ts"),
        import("../operations/settings/operations.ts"),
      ]);
      return [...groupOperations, ...groupSettingOperations] as const;
    },
  },
  policy: {
    summary: "show and explain the policy on tool calls",
    load: async () => (await import("../operations/groups/operations.ts")).folderOriginOperations,
  },
  chats: {
    summary: "list and answer chats that are not groups",
    load: async () => (await import("../operations/chats/operations.ts")).chatOperations,
  },
  pairing: {
    summary: "let people in who write directly",
    load: async () => (await import("../operations/chats/operations.ts")).pairingOperations,
  },
  people: {
    summary: "people, and their roles",
    load: async () => (await import("../operations/people/operations.ts")).peopleOperations,
  },
  sessions: {
    summary: "list sessions, stop containers",
    load: async () => (await import("../operations/sessions/operations.ts")).sessionOperations,
  },
  context: {
    summary: "how the context window of a conversation is used",
    load: async () => (await import("../operations/contexts/operations.ts")).contextOperations,
  },
  turns: {
    summary: "list, show or retry turns",
    load: async () => (await import("../operations/turns/operations.ts")).turnOperations,
  },
  approvals: {
    summary: "answer tool calls that wait for people",
    load: async () => (await import("../operations/approvals/operations.ts")).approvalOperations,
  },
  tasks: {
    summary: "schedule tasks for agents",
    load: async () => (await import("../abilities/tasks/operations.ts")).taskOperations,
  },
  work: {
    summary: "give agents work, list or drop it",
    load: async () => (await import("../operations/work/operations.ts")).workOperations,
  },
  jobs: {
    summary: "list and stop background jobs of agents",
    load: async () => (await import("../abilities/jobs/operations.ts")).jobOperations,
  },
  agents: {
    summary: "list, show or cancel sub-agents",
    load: async () => (await import("../abilities/sub-agents/operations.ts")).subAgentOperations,
  },
  hooks: {
    summary: "webhooks: list or test them",
    load: async () => (await import("../abilities/webhooks/operations.ts")).webhookOperations,
  },
  memory: {
    summary: "search and manage what groups remember",
    load: async () => (await import("../abilities/memory/operations.ts")).memoryOperations,
  },
  skills: {
    summary: "list, install, check or write skills",
    load: async () => (await import("../abilities/skills/operations.ts")).skillOperations,
  },
  mounts: {
    summary: "check a group's mounts, decide about what agents changed there",
    load: async () => (await import("../operations/mounts/operations.ts")).mountOperations,
  },
  mcp: {
    summary: "MCP servers: add, import, list, test, log in at or remove them",
    load: async () => (await import("../abilities/mcp/operations.ts")).mcpOperations,
  },
  models: {
    summary: "windows and token counts that were learned of models",
    load: async () => (await import("../operations/models/operations.ts")).modelOperations,
  },
  usage: {
    summary: "tokens and cost of model calls",
    load: async () => (await import("../operations/usage/operations.ts")).usageOperations,
  },
  image: {
    summary: "build, list and prune images with packages",
    load: async () => (await import("../operations/images/operations.ts")).imageOperations,
  },
  outbox: {
    summary: "list outgoing messages, retry failed ones",
    load: async () => (await import("../operations/outbox/operations.ts")).outboxOperations,
  },
  send: {
    summary: "send a message to a group's chat as the host",
    load: async () => [(await import("../operations/outbox/operations.ts")).send] as const,
  },
  events: {
    summary: "show events as they happen",
    load: async () => (await import("../operations/events/operations.ts")).eventOperations,
  },
  channels: {
    summary: "list channels, link an account",
    load: async () => (await import("../operations/channels/operations.ts")).channelOperations,
  },
} satisfies Readonly<Record<string, Family>>;

type Loaded = { readonly [Name in keyof typeof families]: Awaited<ReturnType<(typeof families)[Name]["load"]>> };
type Defined = Loaded[keyof Loaded][number];

/** Loads every operation, once. */
export const loadOperations = memoize(async (): Promise<readonly Defined[]> => {
  const loaded: readonly (readonly Defined[])[] = await Promise.all(Object.values(families).map(({ load }) => load()));
  // A command may belong to two families.
  return [...new Set(loaded.flat())];
});

/** The parts of a host that all operations together work with. */
export type OperationNeeds = Intersection<NeedsOf<Defined>>;

/** The parts of a stopped host that operations work with which look at what it has left. */
export type OfflineNeeds = ApprovalReadingNeeds &
  ContextNeeds &
  GroupReadingNeeds &
  ModelReadingNeeds &
  PeopleNeeds &
  SessionReadingNeeds &
  SubAgentReadingNeeds &
  TaskReadingNeeds &
  TurnReadingNeeds &
  UsageNeeds &
  NeedsOf<typeof configHistory> &
  NeedsOf<typeof listChats> &
  NeedsOf<typeof listJobs> &
  NeedsOf<typeof listOutbox> &
  NeedsOf<typeof listWork>;
