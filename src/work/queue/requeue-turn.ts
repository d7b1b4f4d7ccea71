import type { Turn } from "../../domain/turns/turn.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { WorkQueue } from "./open-work.ts";

/** Puts back what a turn has taken, messages and work, and runs the sessions that it is for. Returns its number. */
export async function requeueTurn(
  store: {
    readonly messages: Pick<Store["messages"], "requeue">;
    readonly work: Pick<Store["work"], "requeue">;
  },
  { queue, dueWork }: WorkQueue,
  groups: Pick<GroupRegistry, "byName">,
  { id, group: name }: Pick<Turn, "group" | "id">,
): Promise<number> {
  const count = (await store.messages.requeue(id)) + (await store.work.requeue(id));
  const group = groups.byName(name);
  if (group) queue.wakeGroup(group);
  dueWork.changed();
  return count;
}
