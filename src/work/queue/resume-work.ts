import type { Group } from "../../domain/chats/group.ts";
import { isSessionOf } from "../../domain/turns/session.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { CatchUp } from "../../turns/catch-up.ts";
import type { SessionQueue } from "./session-queue.ts";

/** Wakes the sessions of registered groups whose turns are unfinished, and the groups in which messages wait. */
export async function wakeUnfinished(
  store: {
    readonly messages: Pick<Store["messages"], "waitingGroups">;
    readonly sessions: Pick<Store["sessions"], "list">;
    readonly turns: Pick<Store["turns"], "running">;
  },
  groups: Pick<GroupRegistry, "byName">,
  queue: Pick<SessionQueue, "wake" | "wakeGroup">,
): Promise<void> {
  const sessions = new Map((await store.sessions.list()).map((session) => [session.id, session]));
  for (const turn of await store.turns.running()) {
    const session = sessions.get(turn.session);
    const group = groups.byName(turn.group);
    if (session && group && isSessionOf(session, group))
      queue.wake({ session: session.key, group: group.name, awaited: turn.cause === "message" });
  }
  for (const name of await store.messages.waitingGroups()) {
    const group = groups.byName(name);
    if (group) queue.wakeGroup(group);
  }
}

/** Carries out the commands of registered groups and gives up their old messages, before anything else. */
export async function settleAbsence(
  groups: Pick<GroupRegistry, "list">,
  commands: { runNew(group: Group): Promise<void> },
  catchUp: Pick<CatchUp, "giveUpOld">,
): Promise<void> {
  for (const group of groups.list()) {
    await commands.runNew(group);
    await catchUp.giveUpOld(group);
  }
}
