import type { Group } from "../../domain/chats/group.ts";
import { mainSessionKey } from "../../domain/turns/session.ts";
import type { AppContext } from "../context.ts";

/** Does a message of this group wait for its agent, or a turn of their conversation run? */
export async function isAtWork({ store }: Pick<AppContext, "store">, group: Group): Promise<boolean> {
  if ((await store.messages.waitingCount(group)) > 0) return true;
  const session = await store.sessions.find(mainSessionKey(group));
  return session !== undefined && (await store.turns.runningIn(session.id)) !== undefined;
}
