import * as z from "zod";

import { type SubAgent, subAgentStates } from "../../domain/work/sub-agent.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Store } from "../../stores/contract/store.ts";
import { lineageView, viewLineage } from "../../operations/definition/lineage-view.ts";
import { defineOperation } from "../../operations/definition/define-operation.ts";
import { flag, list, name, onlyGroup, listedChars, time } from "../../operations/definition/schemas.ts";

/** The parts that look at sub-agents. */
export interface SubAgentReadingNeeds {
  readonly store: { readonly subAgents: Pick<Store["subAgents"], "get" | "list"> };
}

/** The parts that cancel them. */
export interface SubAgentNeeds extends SubAgentReadingNeeds {
  readonly subAgents: { cancel(id: string, reason: string): Promise<boolean> };
}

const listed = 1_000;
/** Sub-agents that a chat is shown at once. */
const chatLines = 20;

/** A sub-agent: `parent` is the session that it works for, `session` its own. */
const subAgentView = z.strictObject({
  id: z.string(),
  group: z.string(),
  session: z.string().optional(),
  parent: z.string(),
  turn: z.string(),
  task: z.string(),
  state: z.enum(subAgentStates),
  profile: z.string().optional(),
  route: z.string().optional(),
  depth: z.number(),
  background: z.boolean(),
  ...lineageView.shape,
  result: z.string().optional().describe("Its answer, or why there is none"),
  files: list(z.string()),
  createdAt: time,
  expiresAt: time,
  endedAt: time.optional(),
});

export type SubAgentView = z.infer<typeof subAgentView>;

export const listSubAgents = defineOperation<SubAgentReadingNeeds>()({
  name: "agents.list",
  summary: "list sub-agents, newest first",
  input: z.strictObject({ group: onlyGroup, all: flag.describe("also sub-agents that have ended") }),
  output: list(subAgentView),
  may: { scope: "read", role: "guest" },
  effect: "none",
  rest: "GET /agents",
  listAs: "agents",
  offline: true,
  cli: {
    table: [
      "id",
      "group",
      "state",
      "session",
      "parent",
      { field: "createdAt", title: "began (UTC)" },
      { field: "task", short: true },
    ],
    none: ({ all }) => (all ? "There are no sub-agents." : "No sub-agent is running."),
  },
  chat: {
    form: "/agents",
    say: (agents, { now }) =>
      agents
        .slice(0, chatLines)
        .map((agent) => describeAgent(agent, now))
        .join("\n") || "No sub-agents are running here.",
  },
  run: async ({ store }, { group, all }) => {
    const agents = await store.subAgents.list({ group, running: !all, limit: listed });
    return agents.map((agent) => ({ ...view(agent), task: shorten(agent.task, listedChars) }));
  },
});

export const showSubAgent = defineOperation<SubAgentReadingNeeds>()({
  name: "agents.show",
  summary: "show a sub-agent with all of its task and its result",
  input: z.strictObject({ id: name }),
  output: subAgentView,
  may: { scope: "read" },
  effect: "none",
  rest: "GET /agents/{id}",
  offline: true,
  cli: { args: ["id"] },
  run: async ({ store }, { id }) => view(await found(store.subAgents, id)),
});

/** Rejects with `conflict` when it has ended before. */
export const cancelSubAgent = defineOperation<SubAgentNeeds>()({
  name: "agents.cancel",
  summary: "cancel a sub-agent and those that work for it",
  input: z.strictObject({ id: name }),
  output: subAgentView,
  may: {
    scope: "admin",
    role: "admin",
    of: async ({ store }, { id }) => (await found(store.subAgents, id)).group,
    own: async ({ store }, { id }) => (await found(store.subAgents, id)).lineage,
    refusal: "A sub-agent can be stopped by whoever it works for, or an admin.",
  },
  effect: "change",
  cli: { args: ["id"], say: ({ id, group }) => `${id} of group ${group} is cancelled.` },
  chat: { form: "/agents stop ID", say: ({ id }) => `${id} is stopped.` },
  run: async ({ store, subAgents }, input, { member }) => {
    const { id } = await found(store.subAgents, input.id);
    const isEnded = await subAgents.cancel(id, member ? "stopped in the chat" : "the operator has cancelled it");
    const agent = await found(store.subAgents, id);
    if (isEnded) return view(agent);
    throw new AppError("conflict", `${id} has ended: it is ${agent.state}.`);
  },
});

async function found(agents: Pick<Store["subAgents"], "get">, id: string): Promise<SubAgent> {
  const agent = await agents.get(id);
  if (agent) return agent;
  throw new AppError("not_found", `There is no sub-agent "${id}".`, { fix: ownCommand("agents list --all") });
}

function view(agent: SubAgent): SubAgentView {
  const { id, group, session, parent, turn, task, state, profile, route, depth, background } = agent;
  const { lineage, text, files, createdAt, expiresAt, endedAt } = agent;
  const about = { id, group, session, parent, turn, task, state, profile, route, depth, background };
  return { ...about, ...viewLineage(lineage), result: text, files, createdAt, expiresAt, endedAt };
}

function describeAgent({ id, task, createdAt, background }: SubAgentView, now: number): string {
  const minutes = Math.max(0, Math.floor((now - createdAt) / 60_000));
  const since = minutes < 1 ? "less than a minute" : `${minutes} min`;
  // The words are a model's: in quotation marks nobody takes them for the host's.
  return `${id}, for ${since}${background ? ", in the background" : ""}: ${quotedName(task, "a task")}`;
}

/** Operations on sub-agents. */
export const subAgentOperations = [listSubAgents, showSubAgent, cancelSubAgent] as const;
