import type { GroupChat } from "../../domain/chats/group.ts";
import type { WaitingInGroup } from "../../stores/contract/store.ts";
import type { TurnView } from "./turn-view.ts";

/** The parts that know which messages wait. */
export interface WaitingNeeds {
  readonly groups: { list(): readonly GroupChat[] };
  readonly store: { readonly messages: { waitingByGroup(): Promise<WaitingInGroup[]> } };
}

/** Waiting messages by group, without those that another chat left under its name. */
export async function listWaiting({
  groups,
  store,
}: WaitingNeeds): Promise<readonly { readonly group: string; readonly messages: number; readonly oldestAt: number }[]> {
  const known = new Map(groups.list().map((group) => [group.name, group]));
  const isServed = ({ group: name, channel, chat }: WaitingInGroup): boolean => {
    const group = known.get(name);
    return group === undefined || (group.channel === channel && group.chat === chat);
  };
  const waiting = (await store.messages.waitingByGroup()).filter(isServed);
  return waiting.map(({ group, messages, oldestAt }) => ({ group, messages, oldestAt }));
}

/** The same by group. */
export async function waitingIn(needs: WaitingNeeds): Promise<Map<string, TurnView["waiting"]>> {
  const waiting = await listWaiting(needs);
  return new Map(waiting.map(({ group, messages, oldestAt }) => [group, { messages, oldestAt }]));
}
