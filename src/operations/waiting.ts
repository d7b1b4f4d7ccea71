import type { Group } from "../domain/group.ts";
import type { WaitingInGroup } from "../stores/store.ts";
import type { TurnView, WaitingView } from "./operations.ts";

interface WaitingOptions {
  readonly groups: { list(): readonly Group[] };
  readonly store: { readonly messages: { waitingByGroup(): Promise<WaitingInGroup[]> } };
}

/** What waits by group, without what another chat has left under the name of a group: nobody is going to answer that. */
export async function listWaiting({ groups, store }: WaitingOptions): Promise<WaitingView[]> {
  const known = new Map(groups.list().map((group) => [group.name, group]));
  const isServed = ({ group: name, channel, chat }: WaitingInGroup): boolean => {
    const group = known.get(name);
    return group === undefined || (group.channel === channel && group.chat === chat);
  };
  const waiting = (await store.messages.waitingByGroup()).filter(isServed);
  return waiting.map(({ group, messages, oldestAt }) => ({ group, messages, oldestAt }));
}

export async function waitingIn(options: WaitingOptions): Promise<Map<string, TurnView["waiting"]>> {
  const waiting = await listWaiting(options);
  return new Map(waiting.map(({ group, messages, oldestAt }) => [group, { messages, oldestAt }]));
}
