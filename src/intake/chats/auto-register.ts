import type { Receipt } from "../../channels/channel.ts";
import { memberActor } from "../../domain/people/actor.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Group, GroupChat } from "../../domain/chats/group.ts";
import type { IncomingMessage } from "../../domain/chats/message.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { secondsLeftInUtcDay, utcDay } from "../../lib/time/utc-day.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { GroupRegistry } from "./group-registry.ts";
import { createInOrder } from "../in-order.ts";

export interface AutoRegisterOptions {
  /** Group name for this message's chat; undefined when it is not registered automatically. */
  readonly nameOf: (message: IncomingMessage) => Promise<string | undefined>;
  readonly registry: Pick<GroupRegistry, "find" | "byName" | "list" | "add">;
  /** Groups that are made on one day (UTC), and those of the channel that are not in the configuration. */
  readonly limits: { readonly perDay: number; readonly total: number };
  readonly store: { readonly intake: Store["intake"] };
  readonly clock: Pick<Clock, "now">;
  readonly publish: Publish<"group.added" | "limit.reached">;
}

/**
 * Makes a group of a chat that becomes one by itself, with trigger `mention` and nothing mounted. Undefined for other
 * chats, and for a name that a group of another channel has; a refusal where there are as many as there may be. Rejects
 * with `conflict` for a name under which another chat has left something: only the operator can hand that over.
 */
export function createAutoRegister(
  options: AutoRegisterOptions,
): (message: IncomingMessage) => Promise<Group | Receipt | undefined> {
  const inOrder = createInOrder();
  // One at a time: none is made twice, and no two of them are the last one that there may be.
  return (message) => inOrder("", () => findOrAdd(options, message));
}

async function findOrAdd(options: AutoRegisterOptions, message: IncomingMessage): Promise<Group | Receipt | undefined> {
  const { registry, store } = options;
  const { channel, chat } = message;
  const known = registry.find(channel, chat);
  if (known) return known;
  const name = await options.nameOf(message);
  if (name === undefined || registry.byName(name)) return undefined;
  const day = utcDay(options.clock.now());
  const account = { kind: "auto-register", name: channel } as const;
  const { messages: madeToday } = await store.intake.ofDay(day, account);
  const made = registry.list().filter((group) => group.channel === channel && group.origin === "store").length;
  const { perDay, total } = options.limits;
  if (made >= total) return refuse(options, message, { limit: "total", allowed: total });
  if (madeToday >= perDay) return refuse(options, message, { limit: "perDay", allowed: perDay });
  const group = await registry.add({ name, channel, chat }).catch((error: unknown) => {
    throw error instanceof AppError && error.code === "conflict" ? notByItself({ name, channel, chat }) : error;
  });
  await store.intake.charge({ day, accounts: [account], amount: { messages: 1, bytes: 0, attachmentBytes: 0 } });
  const actor = memberActor(message.sender.id);
  await options.publish({ type: "group.added", group: name, actor, data: { name, channel, chat } });
  return group;
}

/** On record once a day. */
async function refuse(
  { store, clock, publish }: AutoRegisterOptions,
  { channel, chat, sender }: IncomingMessage,
  { limit, allowed }: { readonly limit: "perDay" | "total"; readonly allowed: number },
): Promise<Receipt> {
  const now = clock.now();
  const account = { kind: "auto-register", name: `${channel} ${limit}` } as const;
  if (await store.intake.tell(utcDay(now), account, "messages")) {
    const data = { limit: `auto-registered-groups-${limit === "total" ? "total" : "per-day"}`, allowed, channel, chat };
    await publish({ type: "limit.reached", actor: memberActor(sender.id), data });
  }
  const when = limit === "total" ? "" : " today (UTC)";
  const reason = `the channel has made ${allowed} groups${when}, which is as many as it may (intake.autoRegister.${limit})`;
  const retryAfterS = secondsLeftInUtcDay(now);
  return { outcome: "refused", code: "too-many-groups", reason, retryAfterS, lasting: true, stopped: false };
}

/** Error that reveals nothing about the other chat. */
function notByItself({ name, channel, chat }: GroupChat): AppError {
  return new AppError(
    "conflict",
    `"${name}" does not become a group automatically: a folder or messages of another chat have this name. The operator can hand them over: crabpot groups add ${name} --channel ${channel} --chat ${chat} --adopt`,
  );
}
