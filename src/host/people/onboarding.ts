import { randomInt } from "node:crypto";

import { hasTrait } from "../../config/adapters.ts";
import { isKnown } from "../../config/configured/people.ts";
import { sharedPolicy } from "../../config/resolve-group.ts";
import { risks } from "../../domain/rights/policy.ts";
import { memberActor } from "../../domain/people/actor.ts";
import { isGroupName } from "../../domain/chats/group.ts";
import type { IncomingMessage } from "../../domain/chats/message.ts";
import type { createAutoRegister } from "../../intake/chats/auto-register.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import type { Outbox } from "../../delivery/outbox.ts";
import { type Admissions, createAdmissions } from "../../intake/chats/admissions.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { createOnboarding } from "../../intake/chats/onboarding.ts";
import { CodeTries } from "../../rights/people/code-tries.ts";
import { isAlwaysDenied } from "../../rights/policy/judge.ts";
import type { ChatBook } from "../../intake/chats/chat-book.ts";
import type { AppContext } from "../context.ts";
import type { Entrances } from "../chats/entrances.ts";
import type { GroupFolders } from "../../intake/chats/group-folders.ts";

/**
 * Lets chats that are no group ask, in the main groups, to become one; who writes directly is heard as `access.dm`
 * says.
 */
export function createStrangers(
  context: AppContext,
  options: {
    readonly groups: GroupRegistry;
    readonly outbox: Pick<Outbox, "wake">;
    readonly entrances: Pick<Entrances, "channels">;
  },
): ReturnType<typeof createOnboarding> {
  const { config, store, forwardClock: clock, publish } = context;
  const onboard = createOnboarding({
    store,
    onboards: (channel) => hasTrait(context, channel, "onboards"),
    get pairs() {
      return config.access.dm === "pairing";
    },
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
  return async (message) => {
    if (message.direct === true) await noteRefused(context, message);
    await onboard(message);
  };
}

/** Once a day (UTC) and channel: strangers must not fill the log. */
async function noteRefused(
  { config, store, clock, publish }: AppContext,
  { channel, chat, sender }: IncomingMessage,
): Promise<void> {
  const { dm } = config.access;
  const account = { kind: "member", name: `${channel} access.dm` } as const;
  if (dm === "pairing" || !(await store.intake.tell(utcDay(clock.now()), account, "messages"))) return;
  const data = { rule: `access.dm: ${dm}`, channel, chat };
  await publish({ type: "access.refused", actor: memberActor(sender.id), data });
}

/** Names for chats that become groups automatically, by their channel or `access.dm`. */
export function createNaming(
  context: AppContext,
  admissions: Pick<Admissions, "nameFor">,
): Parameters<typeof createAutoRegister>[0]["nameOf"] {
  const { config, roles } = context;
  const registering = registeringChannels(context);
  return async ({ channel, chat, chatTitle: title, sender, direct }) => {
    if (registering.has(channel)) return isGroupName(chat) ? chat : undefined;
    if (direct !== true || !hasTrait(context, channel, "onboards")) return undefined;
    const isWelcome =
      config.access.dm === "open" ||
      (config.access.dm !== "off" && isKnown(config, roles.keysOf({ channel, id: sender.id })));
    return isWelcome ? admissions.nameFor({ channel, chat, title, sender }) : undefined;
  };
}

/** Those whose settings say that chats become groups by themselves. */
function registeringChannels({ config, adapters }: AppContext): ReadonlySet<string> {
  const { channels } = config;
  const registering = adapters.channels.filter((channel) => {
    return Object.hasOwn(channels, channel.name) && channel.registersChats?.(channels[channel.name]);
  });
  return new Set(registering.map(({ name }) => name));
}

/** Carries out what is answered there, and what the operator says. */
export function createAnswers(
  { config, store, forwardClock, publish }: AppContext,
  {
    groups,
    folders,
    chats,
  }: {
    readonly groups: GroupRegistry;
    readonly folders: Pick<GroupFolders, "isFree">;
    readonly chats: ChatBook;
  },
): Admissions {
  return createAdmissions({
    store,
    registry: groups,
    isNameFree: async (group) => groups.byName(group.name) === undefined && (await folders.isFree(group)),
    get assistantName() {
      return config.assistant.name;
    },
    isOffered: (tool) => !isAlwaysDenied(tool, risks, sharedPolicy(config)),
    tries: new CodeTries(store.requests, () => forwardClock.now()),
    now: () => forwardClock.now(),
    pairing: ({ channel, chat, sender: { id } }, actor) =>
      publish({ type: "person.paired", actor, data: { channel, chat, id } }),
    added: async (group, { actor, code }) => {
      const { name, channel, chat } = group;
      await publish({ type: "group.added", group: name, actor, data: { name, channel, chat, code } });
      await chats.registered(group);
    },
  });
}
