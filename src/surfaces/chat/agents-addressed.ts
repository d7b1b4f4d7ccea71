import type { Group } from "../../domain/chats/group.ts";
import { addresseeOf, agentOfSession, agentsOf, isAddressee } from "../../domain/turns/session.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import type { SetAside } from "../../stores/contract/store.ts";
import type { CommandServices, GivenCommand } from "./command.ts";

/** Form of a command for one of several agents. */
export const agentTaken = "[AGENT]";

/** The agents of a group that a command is for. */
export interface Addressed {
  readonly agents: readonly string[];
  /** Selects their part. */
  readonly choose: (found: SetAside) => SetAside;
}

/** All agents of the group, or the one that is named behind the command; a string says that there is no such agent. */
export async function agentsAddressed(
  { group, pending }: Pick<GivenCommand, "group" | "pending">,
  services: Pick<CommandServices, "agentNameOf" | "sessions">,
): Promise<Addressed | string> {
  const agents = agentsNamed(group, services, pending.argument?.trim() ?? "");
  if (typeof agents === "string") return agents;
  const ids = agents.map(({ id }) => id);
  if (ids.length === agentsOf(group).length) return { agents: ids, choose: (found) => found };
  const theirs = (await services.sessions.list(group)).filter((session) => ids.includes(agentOfSession(session)));
  const sessionIds = theirs.map(({ id }) => id);
  return { agents: ids, choose: chosen(group, ids, sessionIds) };
}

/** All agents of the group, or those that are called so; a string says that there is none. */
export function agentsNamed(
  group: Group,
  services: Pick<CommandServices, "agentNameOf">,
  said: string,
): readonly { readonly id: string; readonly name: string }[] | string {
  const word = said.replace(/^@/u, "");
  const known = agentsOf(group).map((id) => ({ id, name: services.agentNameOf(group, id) }));
  const isMeant = ({ id, name }: (typeof known)[number]): boolean =>
    id === word || name.normalize("NFC").toLowerCase() === word.normalize("NFC").toLowerCase();
  const agents = word === "" ? known : known.filter(isMeant);
  if (agents.length > 0) return agents;
  return `There is no agent ${quotedName(word)} here. There are ${known.map(({ name }) => name).join(", ")}.`;
}

/** Also what goes on beside their main sessions: sub-agents, tasks. */
function chosen(group: Group, ids: readonly string[], sessions: readonly string[]): Addressed["choose"] {
  const addressees = ids.map((id) => addresseeOf(group, id)).filter((addressee) => addressee !== undefined);
  return ({ turns, waiting, work }) => ({
    turns: turns.filter(({ turn }) => sessions.includes(turn.session)),
    waiting: waiting.filter(({ agent }) => addressees.some((addressee) => isAddressee(addressee, agent))),
    work: work.filter(({ session }) => sessions.includes(session)),
  });
}
