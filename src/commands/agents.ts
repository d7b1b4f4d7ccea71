import { isAtLeast } from "../domain/role.ts";
import type { SubAgent } from "../domain/sub-agent.ts";
import { quotedName } from "../lib/text/plain-words.ts";
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
    if (running.length === 0) return { text: "No sub-agents are at work here." };
    return { text: running.map((agent) => describe(agent, services.now())).join("\n") };
  },
};

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
