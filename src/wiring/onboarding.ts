import { randomInt } from "node:crypto";

import { hasTrait } from "../config/adapters.ts";
import type { Outbox } from "../delivery/outbox.ts";
import { type Admissions, createAdmissions } from "../intake/chats/admissions.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import { createOnboarding } from "../intake/chats/onboarding.ts";
import type { ChatBook } from "../intake/chats/chat-book.ts";
import type { AppContext } from "./context.ts";
import type { Entrances } from "./entrances.ts";
import type { Groups } from "./groups.ts";

/** Lets chats that are no group ask, in the main groups, to become one. */
export function createStrangers(
  context: AppContext,
  options: {
    readonly groups: GroupRegistry;
    readonly outbox: Pick<Outbox, "wake">;
    readonly entrances: Pick<Entrances, "channels">;
  },
): ReturnType<typeof createOnboarding> {
  const { config, store, clock, publish } = context;
  return createOnboarding({
    store,
    onboards: (channel) => hasTrait(context, channel, "onboards"),
    isConnected: (name) =>
      options.entrances.channels.some((channel) => channel.name === name && channel.state().state === "open"),
    mainGroups: () => options.groups.list().filter(({ main }) => main),
    get assistantName() {
      return config.assistant.name;
    },
    randomBelow: randomInt,
    deliver: () => options.outbox.wake(),
    clock,
    publish,
  });
}

/** Carries out what is answered there, and what the operator says. */
export function createAnswers(
  { config, store, publish }: AppContext,
  { groups, folders, chats }: Pick<Groups, "groups" | "folders"> & { readonly chats: ChatBook },
): Admissions {
  return createAdmissions({
    store,
    registry: groups,
    isNameFree: async (group) => groups.byName(group.name) === undefined && (await folders.isFree(group)),
    get assistantName() {
      return config.assistant.name;
    },
    added: async (group, { actor, code }) => {
      const { name, channel, chat } = group;
      await publish({ type: "group.added", group: name, actor, data: { name, channel, chat, code } });
      await chats.registered(group);
    },
  });
}
