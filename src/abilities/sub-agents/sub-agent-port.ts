import { randomUUID } from "node:crypto";

import { describeCarriedOut, describeStanding } from "../../domain/work/describe-sub-agent.ts";
import { joined, ofHost, type Sourced, sourced } from "../../domain/rights/sourced.ts";
import type { Origin } from "../../domain/people/origin.ts";
import { mayAct } from "../../domain/rights/may-act.ts";
import { isAtLeast } from "../../domain/people/role.ts";
import { lineageOfTask, type SubAgent, subAgentId } from "../../domain/work/sub-agent.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import { turnAsAsker } from "../../rights/people/asker.ts";
import { lineageOfTurn } from "../../rights/people/lineage-of-turn.ts";
import type { RoleOf } from "../../rights/people/roles.ts";
import type { CallingTurn } from "../define-ability.ts";
import type { SubAgentLifecycle } from "./sub-agent-lifecycle.ts";

const shown = 20;

/** Actions on running sub-agents; each answers in words for the model, or throws ToolError with what is wrong. */
export interface SubAgentPort {
  status(id: string | undefined): Promise<Sourced>;
  message(id: string, text: string): Promise<Sourced>;
  cancel(id: string): Promise<Sourced>;
}

export interface SubAgentPortNeeds {
  readonly store: {
    readonly subAgents: Pick<Store["subAgents"], "get" | "list">;
    readonly work: Pick<Store["work"], "add">;
    readonly origins: Pick<Store["origins"], "lineage">;
  };
  readonly roleOf: RoleOf;
  readonly workAdded: () => void;
  readonly clock: Pick<Clock, "now">;
}

/** Actions on sub-agents of this session, and no others. */
export function subAgentPort(
  options: SubAgentPortNeeds,
  lifecycle: Pick<SubAgentLifecycle, "cancel">,
  scope: CallingTurn,
): SubAgentPort {
  return {
    status: (id: string | undefined) => (id === undefined ? listOwn(options, scope) : showOne(options, scope, id)),
    message: (id: string, text: string) => tell(options, scope, { id, text }),
    cancel: async (id: string) => {
      const agent = await ownToChange(options, scope, id);
      const isEnded = await lifecycle.cancel(agent.id, "its parent did not need it anymore");
      const known = sourced(agent.id, []);
      return isEnded ? ofHost`${known} is cancelled.` : ofHost`${known} had ended before.`;
    },
  };
}

async function listOwn({ store }: SubAgentPortNeeds, { session }: CallingTurn): Promise<Sourced> {
  const agents = await store.subAgents.list({ parent: session.id, limit: shown });
  return agents.length === 0 ? ofHost`You have no sub-agents.` : joined(agents.map(standingOf), "\n");
}

async function showOne(options: SubAgentPortNeeds, scope: CallingTurn, id: string): Promise<Sourced> {
  const agent = await own(options, scope, id);
  const isThere = agent.deliveredAt !== undefined && agent.state !== "running";
  if (isThere && !(await hasRead(options, scope, agent))) return standingOf(agent);
  return isThere ? sourced(describeCarriedOut(agent), wordsOf(agent)) : standingOf(agent);
}

function standingOf(agent: SubAgent): Sourced {
  return sourced(describeStanding(agent), wordsOf(agent));
}

/** Origins of its task, which another conversation may have given it, and of its answer. */
function wordsOf({ lineage }: SubAgent): readonly Origin[] {
  return ["agent", ...lineage.origins];
}

/** Its words are shown only to a turn that carries what they carry already: they come with what brings that. */
async function hasRead({ store }: SubAgentPortNeeds, { turn }: CallingTurn, { lineage }: SubAgent): Promise<boolean> {
  const read = new Set((await store.origins.lineage(turn.id)).origins);
  return read.has("agent") && lineage.origins.every((origin) => read.has(origin));
}

async function tell(
  options: SubAgentPortNeeds,
  scope: CallingTurn,
  said: { readonly id: string; readonly text: string },
): Promise<Sourced> {
  const { store, clock, workAdded, roleOf } = options;
  const agent = await ownToChange(options, scope, said.id);
  if (agent.state !== "running" || agent.session === undefined)
    throw new ToolError(`${agent.id} has ended (${agent.state}).`);
  const lineage = await lineageOfTurn({ origins: store.origins, roleOf }, scope.group, scope.turn);
  if (!isAtLeast(lineage.role, agent.lineage.role))
    throw new ToolError(
      `${agent.id} works for a ${agent.lineage.role}, and a ${lineage.role} asks here: begin another one.`,
    );
  const now = clock.now();
  await store.work.add(
    {
      id: `agent:${agent.id}:${randomUUID()}`,
      group: agent.group,
      session: agent.session,
      cause: "agent",
      dueAt: now,
      replyTo: { kind: "session", session: agent.parent },
      origin: "agent",
      lineage: lineageOfTask(lineage, agent),
      text: said.text,
    },
    now,
  );
  workAdded();
  return ofHost`${sourced(agent.id, [])} has it.`;
}

/** The same rights as in the chat. */
const change = { role: "admin", own: true } as const;

async function ownToChange(options: SubAgentPortNeeds, scope: CallingTurn, id: string): Promise<SubAgent> {
  const agent = await own(options, scope, id);
  const { store, roleOf } = options;
  const asker = await turnAsAsker({ origins: store.origins, roleOf }, scope.group, scope.turn);
  if (mayAct(asker, change, agent) === "allowed") return agent;
  throw new ToolError(`${agent.id} takes orders from whoever it works for, or an admin.`);
}

async function own({ store }: SubAgentPortNeeds, { session }: CallingTurn, id: string): Promise<SubAgent> {
  const agent = await store.subAgents.get(id);
  if (agent?.parent === session.id) return agent;
  const running = await store.subAgents.list({ parent: session.id, limit: shown });
  const known =
    running.length === 0 ? "You have none." : `Yours: ${running.map(({ number }) => subAgentId(number)).join(", ")}.`;
  throw new ToolError(`You have no sub-agent "${id.slice(0, 32)}". ${known}`);
}
