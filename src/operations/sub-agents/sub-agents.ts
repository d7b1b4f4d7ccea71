import { type SubAgent } from "../../domain/sub-agent.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Store } from "../../stores/store.ts";
import type { Operations, SubAgentView } from "../operations.ts";

export interface SubAgentReadingOptions {
  readonly store: { readonly subAgents: Pick<Store["subAgents"], "get" | "list"> };
}

export interface SubAgentOperationOptions extends SubAgentReadingOptions {
  readonly subAgentDesk: { cancel(id: string, reason: string): Promise<boolean> };
}

const listed = 1_000;
const shownChars = 400;

export async function listSubAgents(
  { store }: SubAgentReadingOptions,
  { group, all }: Parameters<Operations["listSubAgents"]>[0],
): Promise<SubAgentView[]> {
  const agents = await store.subAgents.list({ group, running: !all, limit: listed });
  return agents.map((agent) => ({ ...view(agent), task: shorten(agent.task, shownChars) }));
}

export async function showSubAgent({ store }: SubAgentReadingOptions, id: string): Promise<SubAgentView> {
  return { ...view(await found(store.subAgents, id)) };
}

/** Rejects with `conflict` when it has ended before. */
export async function cancelSubAgent(
  { store, subAgentDesk }: SubAgentOperationOptions,
  given: string,
): Promise<SubAgentView> {
  const { id } = await found(store.subAgents, given);
  const isEnded = await subAgentDesk.cancel(id, "the operator has cancelled it");
  const agent = await found(store.subAgents, id);
  if (isEnded) return view(agent);
  throw new AppError("conflict", `${id} has ended: it is ${agent.state}.`);
}

async function found(agents: Pick<Store["subAgents"], "get">, id: string): Promise<SubAgent> {
  const agent = await agents.get(id);
  if (agent) return agent;
  throw new AppError("not_found", `There is no sub-agent "${id}".`, { fix: ownCommand("agents list --all") });
}

function view(agent: SubAgent): SubAgentView {
  const { id, group, session, parent, turn, task, state, profile, route, depth, background, requester, role } = agent;
  const { text, files, createdAt, expiresAt, endedAt } = agent;
  const about = { id, group, session, parent, turn, task, state, profile, route, depth, background, requester, role };
  return { ...about, result: text, files, createdAt, expiresAt, endedAt };
}
