import type { Group, StoredGroup } from "../../src/domain/chats/group.ts";

/** A group with nothing special about it. */
export function someGroup(name: string, more: Partial<Group> = {}): Group {
  return {
    name,
    channel: "fake",
    chat: `chat of ${name}`,
    trigger: "mention",
    main: false,
    mounts: [],
    model: undefined,
    budget: { tokensPerDay: undefined, usdPerDay: undefined },
    origin: "config",
    ...more,
  };
}

/** A group that was added at run time, as it is when everybody may do everything. */
export function someStoredGroup({ settings, ...chat }: StoredGroup): Group {
  return someGroup(chat.name, { ...chat, ...settings, origin: "store" });
}
