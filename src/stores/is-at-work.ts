import type { Group } from "../domain/chats/group.ts";
import { mainSessionKey } from "../domain/turns/session.ts";
import type { Store } from "./contract/store.ts";

/** True when a message of this group waits for its agent, or a turn of their conversation runs. */
export async function isAtWork(
  store: {
    readonly messages: Pick<Store["messages"], "waitingCount">;
    readonly sessions: Pick<Store["sessions"], "find">;
    readonly turns: Pick<Store["turns"], "runningIn">;
  },
  group: Group,
): Promise<boolean> {
  if ((await store.messages.waitingCount(group)) > 0) return true;
  const session = await store.sessions.find(mainSessionKey(group));
  return session !== undefined && (await store.turns.runningIn(session.id)) !== undefined;
}
