import type { AcceptMessage, Receipt } from "../channels/channel.ts";
import type { Group } from "../domain/group.ts";
import type { ChatCommand, IncomingMessage, MessageState, OutgoingDraft } from "../domain/message.ts";
import type { Clock } from "../lib/clock.ts";
import type { Store } from "../stores/store.ts";
import { type AddressParts, addressRule } from "./address.ts";
import { cleanMessage } from "./clean-message.ts";
import { parseCommand } from "./command.ts";
import type { GroupRegistry } from "./group-registry.ts";
import { createInOrder } from "./in-order.ts";

/** Bounds of the intake. */
export interface RouterLimits {
  /** Longest text, in UTF-16 code units. */
  readonly textChars: number;
  /** Messages of one group that may wait for the agent. */
  readonly waitingPerGroup: number;
  /** What a channel is told to wait before it tries again. */
  readonly retryAfterS: number;
}

export const routerLimits: RouterLimits = { textChars: 65_536, waitingPerGroup: 1_000, retryAfterS: 5 };

/** What the router puts on record. A rejection reaches the channel as "not received". */
type RouterAudit = (record: {
  readonly type: "message-in" | "limit-hit";
  readonly group: string;
  readonly actor: string;
  readonly data: Readonly<Record<string, string | number | boolean>>;
}) => Promise<void>;

export interface RouterParts {
  readonly registry: Pick<GroupRegistry, "find">;
  readonly store: {
    readonly messages: Pick<Store["messages"], "insert" | "waitingCount">;
    readonly chats: Pick<Store["chats"], "seen" | "memberSeen">;
    readonly outbox: Pick<Store["outbox"], "isOwn">;
  };
  readonly assistantName: string;
  /** True, or why nothing can be taken in at present. */
  readonly intakeOpen: () => true | string;
  /** Makes a group of a chat that has none, where that is wanted. */
  readonly autoRegister?: ((message: IncomingMessage) => Promise<Group | undefined>) | undefined;
  /** Something waits for the agent in this group. Must not throw. */
  readonly wake: (group: string) => void;
  /** Carries a chat command out and answers it. The message is stored and will not come again: must not reject. */
  readonly runCommand: (group: Group, command: ChatCommand, message: IncomingMessage) => Promise<void>;
  /** Sends a notice of the host. */
  readonly notify: (draft: OutgoingDraft) => Promise<void>;
  readonly limits: RouterLimits;
  readonly clock: Clock;
  readonly audit: RouterAudit;
}

/** What was decided about a message before it is stored. */
interface Decision {
  readonly state: MessageState;
  readonly rule: string;
  readonly command: ChatCommand | undefined;
}

const unknownChat: Receipt = { outcome: "unknown-chat" };

/**
 * Decides whose a message is and whether it is for the agent, and stores it, before it answers `stored`. Messages of a
 * group are stored in the order of the calls. One that comes again (same channel, chat, sender id and id) has no second
 * effect. `refused` with `retryAfterS` 0 is for good: the message will not be taken later either.
 */
export function createRouter(parts: RouterParts): AcceptMessage {
  const inOrder = createInOrder();
  const full = new Set<string>();

  return async (incoming) => {
    const open = parts.intakeOpen();
    if (open !== true) {
      return { outcome: "refused", reason: open, retryAfterS: parts.limits.retryAfterS, stopped: true };
    }
    if (incoming.text.length > parts.limits.textChars) return tooLong(parts.limits);
    const message = cleanMessage(incoming);
    const group = parts.registry.find(message.channel, message.chat) ?? (await parts.autoRegister?.(message));
    if (!group) {
      await parts.store.chats.seen(message.channel, message.chat, undefined, parts.clock.now());
      return unknownChat;
    }
    // A group may be found by its name too; under one chat a message is the same one whichever way it came.
    const placed = { ...message, chat: group.chat };
    return inOrder(group.name, () => takeIn(parts, full, group, placed));
  };
}

async function takeIn(parts: RouterParts, full: Set<string>, group: Group, message: IncomingMessage): Promise<Receipt> {
  const decision = await decide(parts, group, message);
  if (decision.state === "waiting" && (await isFull(parts, full, group, message))) {
    return { outcome: "refused", reason: "queue-full", retryAfterS: parts.limits.retryAfterS, stopped: false };
  }
  const at = parts.clock.now();
  const { seq, duplicate } = await parts.store.messages.insert(message, {
    group: group.name,
    state: decision.state,
    at,
  });
  if (duplicate) return { outcome: "stored", duplicate };
  const noted = note(parts, group, message, { ...decision, seq, at });
  if (decision.state === "waiting") parts.wake(group.name);
  await noted;
  if (decision.command) await parts.runCommand(group, decision.command, message);
  return { outcome: "stored", duplicate };
}

async function decide(parts: RouterParts, group: Group, message: IncomingMessage): Promise<Decision> {
  const command = parseCommand(message.text, parts.assistantName);
  if (command) return { state: "handled", rule: "command", command };
  const { assistantName, store } = parts;
  const isOwn: AddressParts["isOwn"] = (channel, chat, reference) => store.outbox.isOwn(channel, chat, reference);
  const rule = await addressRule({ assistantName, isOwn }, group, message);
  return { state: rule === "unaddressed" ? "context" : "waiting", rule, command: undefined };
}

/** Puts the decision, the chat and the member on record, all at once. */
async function note(
  parts: RouterParts,
  group: Group,
  message: IncomingMessage,
  taken: Decision & { readonly seq: number; readonly at: number },
): Promise<void> {
  const { channel, chat, id, sender } = message;
  const { seq, at, rule, state } = taken;
  const data = { channel, chat, id, seq, rule, state, chars: message.text.length };
  await Promise.all([
    parts.audit({ type: "message-in", group: group.name, actor: sender.id, data }),
    parts.store.chats.seen(channel, chat, group.name, at),
    parts.store.chats.memberSeen(group.name, sender, at),
  ]);
}

/** Tells the chat once when its queue has filled up, and again only after it had room in between. */
async function isFull(parts: RouterParts, full: Set<string>, group: Group, message: IncomingMessage): Promise<boolean> {
  const allowed = parts.limits.waitingPerGroup;
  if ((await parts.store.messages.waitingCount(group.name)) < allowed) {
    full.delete(group.name);
    return false;
  }
  if (full.has(group.name)) return true;
  full.add(group.name);
  const data = { limit: "waiting-messages", allowed, channel: message.channel, chat: message.chat };
  await parts.audit({ type: "limit-hit", group: group.name, actor: message.sender.id, data });
  await parts.notify({
    group: group.name,
    channel: group.channel,
    chat: group.chat,
    kind: "notice",
    text: `${allowed} messages are waiting for an answer here. Until that number has gone down, further ones are not taken.`,
    inReplyTo: [],
    turn: undefined,
  });
  return true;
}

function tooLong(limits: RouterLimits): Receipt {
  return { outcome: "refused", reason: `longer than ${limits.textChars} characters`, retryAfterS: 0, stopped: false };
}
