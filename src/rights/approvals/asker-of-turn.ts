import type { Group } from "../../domain/chats/group.ts";
import { memberKey, parseMemberKey } from "../../domain/people/person.ts";
import type { Asker } from "../../domain/rights/approval.ts";
import type { Store } from "../../stores/contract/store.ts";
import { lineageOfTurn } from "../people/lineage-of-turn.ts";
import type { RoleOf } from "../people/roles.ts";

/** The stores in which it is looked up for whom a turn asks. */
export interface AskerStores {
  readonly origins: Pick<Store["origins"], "lineage">;
  readonly turns: Pick<Store["turns"], "get">;
  readonly messages: Pick<Store["messages"], "ofTurn">;
  readonly work: Pick<Store["work"], "ofTurn">;
  readonly subAgents: Pick<Store["subAgents"], "ofSession">;
}

/** Finds out for whom a turn asks people: the person whose rights it has, or else its cause. */
export async function askerOfTurn(store: AskerStores, roleOf: RoleOf, group: Group, id: string): Promise<Asker> {
  const turn = await store.turns.get(id);
  if (!turn) return { id: "work", name: "work", role: "guest" };
  const { cause } = turn;
  const { role, people } = await lineageOfTurn({ origins: store.origins, roleOf }, group, turn);
  const [asking] = people;
  const work = await store.work.ofTurn(id);
  const agent = work?.cause === "agent" ? await store.subAgents.ofSession(work.session) : undefined;
  if (agent) return { id: asking ?? agent.id, name: `${agent.id}, a sub-agent`, role };
  if (asking === undefined)
    // Only the operator gives work by hand.
    return cause === "api" ? { id: "operator", name: "the operator", role } : { id: cause, name: cause, role };
  const messages = await store.messages.ofTurn(id);
  const said = messages.find(({ channel, sender }) => memberKey({ channel, id: sender.id }) === asking);
  return { id: asking, name: said?.sender.name ?? parseMemberKey(asking)?.id ?? asking, role };
}
