import { type Group, isGroupName } from "../domain/group.ts";
import type { IncomingMessage } from "../domain/message.ts";
import type { GroupRegistry } from "./group-registry.ts";

export interface AutoRegisterParts {
  /** Only chats of this channel become groups. */
  readonly channel: string;
  readonly registry: Pick<GroupRegistry, "find" | "byName" | "add">;
  /** What a group gets that says nothing of its own. */
  readonly defaults: Pick<Group, "policy" | "budget">;
}

/**
 * Makes a group of the name that a message is addressed to, with trigger `mention` and nothing mounted. Undefined for
 * other channels, for what cannot be a group's name, and for a name that a group of another channel has.
 */
export function createAutoRegister(parts: AutoRegisterParts): (message: IncomingMessage) => Promise<Group | undefined> {
  const { channel, registry, defaults } = parts;
  const inProgress = new Map<string, Promise<Group>>();
  return async ({ channel: from, chat }) => {
    if (from !== channel || !isGroupName(chat)) return undefined;
    const running = inProgress.get(chat);
    if (running) return running;
    if (registry.byName(chat)) return registry.find(channel, chat);
    const plain = { trigger: "mention", main: false, mounts: [], model: undefined } as const;
    const adding = registry.add({ name: chat, channel, chat, ...plain, ...defaults });
    inProgress.set(chat, adding);
    try {
      return await adding;
    } finally {
      inProgress.delete(chat);
    }
  };
}
