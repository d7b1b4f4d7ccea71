import { isAtLeast } from "../../domain/people/role.ts";
import type { SubAgent } from "../../domain/work/sub-agent.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import type { ChatCommand, GivenCommand, CommandServices } from "./command.ts";

const shown = 20;
const refusal = "A sub-agent can be stopped by whoever it works for, or an admin.";

/** What sub-agents do; `stop` ends one, for whoever it works for or an admin. */
export const agents: ChatCommand = {
  name: "agents",
  help: "what my sub-agents do, or ends one of them",
  takes: "[stop ID]",
  needs: "guest",
  run: async (given, services) => {
    const argument = given.pending.argument?.trim() ?? "";
    const [, id] = /^stop\s+(\S+)$/iu.exec(argument) ?? [];
    if (id !== undefined) return { text: await stop(given, services, id) };
    if (argument !== "") return { text: "It is /agents, or /agents stop ID." };
    const running = await services.subAgents.running(given.group.name, shown);
    const lines = running.map((agent) => describe(agent, services.now()));
    const atWork = lines.length === 0 ? ["No sub-agents are at work here."] : lines;
    return { text: [...describeOwn(given, services), ...atWork].join("\n") };
  },
};

/** The group's own agents, where it has several. */
function describeOwn({ group }: GivenCommand, services: CommandServices): string[] {
  if (!group.agents) return [];
  const names = group.agents.map((id) => services.agentNameOf(group, id));
  return [`Agents here: ${names.join(", ")}. What is for nobody in particular is for ${names[0]}.`];
}

/** Somebody who may stop it learns whether it was there; nobody else does. */
async function stop(
  { group, asker, pending: { message } }: GivenCommand,
  { subAgents, roles }: CommandServices,
  id: string,
): Promise<string> {
  const agent = await subAgents.get(id);
  if (agent?.group !== group.name) return `There is no sub-agent ${quotedName(id)} here. /agents lists them.`;
  const own = roles.keysOf({ channel: message.channel, id: message.sender.id });
  const isOwn = agent.requester !== undefined && own.includes(agent.requester);
  if (!isOwn && !isAtLeast(asker.role, "admin")) return refusal;
  const isEnded = await subAgents.cancel(agent.id);
  const { state } = isEnded ? { state: "cancelled" } : ((await subAgents.get(agent.id)) ?? agent);
  return state === "cancelled" ? `${agent.id} is stopped.` : `${agent.id} has ended: ${state}.`;
}

function describe({ id, task, createdAt, background }: SubAgent, now: number): string {
  const minutes = Math.max(0, Math.floor((now - createdAt) / 60_000));
  const since = minutes < 1 ? "less than a minute" : `${minutes} min`;
  // The words are a model's: in quotation marks nobody takes them for the host's.
  return `${id}, for ${since}${background ? ", in the background" : ""}: ${quotedName(task, "a task")}`;
}
