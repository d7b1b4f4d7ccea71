import { type Group, isGroupName } from "../domain/group.ts";
import type { IncomingMessage } from "../domain/message.ts";
import { AppError } from "../lib/app-error.ts";
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
 * other channels, for what cannot be a group's name, and for a name that a group of another channel has. Rejects with
 * `conflict` for a name under which another chat has left something: only the operator can hand that over.
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
    const adding = registry.add({ name: chat, channel, chat, ...plain, ...defaults }).catch((error: unknown) => {
      throw error instanceof AppError && error.code === "conflict" ? notByItself(channel, chat) : error;
    });
    inProgress.set(chat, adding);
    try {
      return await adding;
    } finally {
      inProgress.delete(chat);
    }
  };
}

/** Says nothing of the other chat: whoever writes here need not know of it. */
function notByItself(channel: string, chat: string): AppError {
  return new AppError(
    "conflict",
    `"${chat}" does not become a group by itself: a folder or messages of another chat have this name. The operator can hand them over: crabpot groups add ${chat} --channel ${channel} --chat ${chat} --adopt`,
  );
}
