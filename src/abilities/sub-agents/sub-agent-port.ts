import { randomUUID } from "node:crypto";

import { describeResult, describeStanding } from "../../tools/sub-agents/render-sub-agent.ts";
import { isAtLeast } from "../../domain/people/role.ts";
import { type SubAgent, subAgentId } from "../../domain/work/sub-agent.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { SpawningOptions, SpawningTurn } from "./spawning.ts";
import type { SubAgentService } from "./sub-agent-service.ts";

const shown = 20;

export interface SubAgentPortOptions {
  readonly store: {
    readonly subAgents: Pick<Store["subAgents"], "get" | "list">;
    readonly work: Pick<Store["work"], "add">;
    readonly origins: Pick<Store["origins"], "provenance">;
  };
  readonly desk: Pick<SubAgentService, "cancel">;
  readonly principalOf: SpawningOptions["principalOf"];
  /** There is new work. */
  readonly workAdded: () => void;
  readonly clock: Pick<Clock, "now">;
}

/** Actions on sub-agents of this session, and no others. */
export function subAgentPort(options: SubAgentPortOptions, scope: SpawningTurn) {
  return {
    status: (id: string | undefined) => (id === undefined ? listOwn(options, scope) : showOne(options, scope, id)),
    message: (id: string, text: string) => tell(options, scope, { id, text }),
    cancel: async (id: string) => {
      const agent = await own(options, scope, id);
      const isEnded = await options.desk.cancel(agent.id, "its parent did not need it anymore");
      return isEnded ? `${agent.id} is cancelled.` : `${agent.id} had ended before.`;
    },
  };
}

async function listOwn({ store }: SubAgentPortOptions, { session }: SpawningTurn): Promise<string> {
  const agents = await store.subAgents.list({ parent: session.id, limit: shown });
  return agents.length === 0 ? "You have no sub-agents." : agents.map(describeStanding).join("\n");
}

async function showOne(options: SubAgentPortOptions, scope: SpawningTurn, id: string): Promise<string> {
  const agent = await own(options, scope, id);
  const isThere = agent.deliveredAt !== undefined && agent.state !== "running";
  if (isThere && !(await hasRead(options, scope, agent))) return describeStanding(agent);
  return isThere ? describeResult(agent) : describeStanding(agent);
}

/** Its words are shown only to a turn that carries what they carry already: they come with what brings that. */
async function hasRead(
  { store }: SubAgentPortOptions,
  { turn }: SpawningTurn,
  { origins }: SubAgent,
): Promise<boolean> {
  const read = new Set((await store.origins.provenance(turn.id)).origins);
  return read.has("agent") && origins.every((origin) => read.has(origin));
}

async function tell(
  options: SubAgentPortOptions,
  scope: SpawningTurn,
  said: { readonly id: string; readonly text: string },
): Promise<string> {
  const { store, clock, workAdded, principalOf } = options;
  const agent = await own(options, scope, said.id);
  if (agent.state !== "running" || agent.session === undefined)
    throw new ToolError(`${agent.id} has ended (${agent.state}).`);
  const { requester, role } = await principalOf(scope.group, scope.turn);
  if (!isAtLeast(role, agent.role))
    throw new ToolError(`${agent.id} works for a ${agent.role}, and a ${role} asks here: begin another one.`);
  const now = clock.now();
  await store.work.add(
    {
      id: `agent:${agent.id}:${randomUUID()}`,
      group: agent.group,
      session: agent.session,
      cause: "agent",
      dueAt: now,
      replyTo: { kind: "session", session: agent.parent },
      ...(requester === undefined ? { origin: role } : { origin: "agent", requester }),
      origins: [...(await store.origins.provenance(scope.turn.id)).origins, "agent"],
      text: said.text,
    },
    now,
  );
  workAdded();
  return `${agent.id} has it.`;
}

async function own({ store }: SubAgentPortOptions, { session }: SpawningTurn, id: string): Promise<SubAgent> {
  const agent = await store.subAgents.get(id);
  if (agent?.parent === session.id) return agent;
  const running = await store.subAgents.list({ parent: session.id, limit: shown });
  const known =
    running.length === 0 ? "You have none." : `Yours: ${running.map(({ number }) => subAgentId(number)).join(", ")}.`;
  throw new ToolError(`You have no sub-agent "${id.slice(0, 32)}". ${known}`);
}
