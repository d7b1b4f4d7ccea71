import { LRUCache } from "lru-cache";
import type { Logger } from "pino";

import type { ChatFacts } from "../../channels/channel.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { Publish } from "../../domain/events/event.ts";
import { toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { GroupRegistry } from "./group-registry.ts";

const nameChars = 256;
const keptMembers = 256;
/** Chats whose members are remembered until they may become groups. */
const rememberedChats = 1_000;

interface ChatBookOptions {
  readonly store: Pick<Store, "chats" | "requests">;
  readonly publish: Publish<"chat.left">;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/**
 * Platforms' facts about chats: titles, members, and whether the account is still in them. Members of a chat without a
 * group are kept in memory only, until it becomes one.
 */
export class ChatBook implements AsyncDisposable {
  readonly #context: ChatBookOptions;
  readonly #groups: Pick<GroupRegistry, "find">;
  readonly #members = new LRUCache<string, NonNullable<ChatFacts["members"]>>({ max: rememberedChats });
  #writing: Promise<void> = Promise.resolve();

  constructor(context: ChatBookOptions, groups: Pick<GroupRegistry, "find">) {
    this.#context = context;
    this.#groups = groups;
  }

  /** Notes what a channel tells, in the order in which it tells it. */
  changed(channel: string, facts: ChatFacts): void {
    this.#writing = this.#writing
      .then(() => this.#note(channel, cleanFacts(facts)))
      .catch((error: unknown) =>
        this.#context.logger.error({ err: toError(error), channel }, "what is known of a chat could not be stored"),
      );
  }

  /** The chat is a group from now on. */
  async registered({ channel, chat }: Pick<Group, "channel" | "chat">): Promise<void> {
    const { store, clock } = this.#context;
    await store.requests.forget(channel, chat);
    const members = this.#members.get(keyOf(channel, chat));
    if (members) await store.chats.changed({ channel, chat, members, at: clock.now() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
  }

  async #note(channel: string, { chat, title, members, left }: ChatFacts): Promise<void> {
    const { store, publish, clock } = this.#context;
    const group = this.#groups.find(channel, chat);
    if (members) this.#members.set(keyOf(channel, chat), members);
    const wasLeft = (await store.chats.get(channel, chat))?.left === true;
    await store.chats.changed({ channel, chat, at: clock.now(), title, left, ...(group && { members }) });
    if (left !== true || wasLeft) return;
    await publish({ type: "chat.left", group: group?.name, actor: "host", data: { channel, chat } });
  }
}

function keyOf(channel: string, chat: string): string {
  return JSON.stringify([channel, chat]);
}

function cleanFacts({ chat, title, members, left }: ChatFacts): ChatFacts {
  return {
    chat,
    left,
    title: title === undefined ? undefined : clean(title),
    members: members?.slice(0, keptMembers).map(({ id, name }) => ({ id: clean(id), name: clean(name) })),
  };
}

function clean(text: string): string {
  return text.replaceAll("\0", "").slice(0, nameChars).toWellFormed();
}
