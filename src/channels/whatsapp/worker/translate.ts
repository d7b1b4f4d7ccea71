import { isJidGroup, isLidUser, isPnUser, jidNormalizedUser, normalizeMessageContent } from "@whiskeysockets/baileys";
import type { proto, WAMessage } from "@whiskeysockets/baileys";

import { isSame } from "../jids.ts";
import { type Content, readContent } from "./content.ts";
import type { Account, Arrival } from "../../../processes/message-schemas.ts";

export interface Translation {
  readonly me: Account;
  /** True when we sent the message with this id. */
  readonly isOwn: (id: string) => Promise<boolean>;
  /** The LID of a phone number, if it was told before. */
  readonly lidOf: (pn: string) => Promise<string | undefined>;
}

/** More people than this are not named in a text: a message may claim to mention any number. */
const namedMentions = 128;

/** Translates a message for the host; undefined for status updates, our own echoes and protocol messages. */
export async function translate(message: WAMessage, options: Translation): Promise<Arrival | undefined> {
  const place = await readPlace(message, options);
  const content = readSaid(message, options.me);
  if (!place || !content) return undefined;
  const people = await readPeople(message, place.isGroup, options);
  if (!people) return undefined;
  const context = content.context ?? {};
  const mentions = [...new Set((context.mentionedJid ?? []).map((person) => jidNormalizedUser(person)))];
  return {
    chat: place.isGroup ? jidNormalizedUser(place.chat) : people.chat,
    id: place.id,
    sender: people.sender,
    senderAlias: people.alias,
    senderName: message.pushName ?? undefined,
    address: { chat: place.chat, participant: message.key.participant ?? undefined },
    text: content.text,
    mentions: mentions.slice(0, namedMentions),
    toAgent: !place.isGroup || mentions.some((person) => isSame(options.me, person)),
    quote: readQuote(context, options.me),
    media: content.media,
    reaction: content.reaction,
    forwarded: isForwarded(context),
    sentAt: Number(message.messageTimestamp ?? 0) * 1000 || undefined,
  };
}

/** Longer than any emoji. */
const emojiChars = 64;

/**
 * A reaction to a message of ours; undefined for one to a message of anybody else, whose id may be the same. The
 * library has turned the key round to our point of view.
 */
function readReaction({ message }: WAMessage): Arrival["reaction"] {
  const { key, text } = normalizeMessageContent(message)?.reactionMessage ?? {};
  if (key?.fromMe !== true || !key.id) return undefined;
  return { message: key.id, emoji: (text ?? "").slice(0, emojiChars).toWellFormed() };
}

interface Said extends Content {
  readonly reaction?: Arrival["reaction"];
}

function readSaid(message: WAMessage, me: Account): Said | undefined {
  const reaction = readReaction(message);
  if (reaction) return { text: "", media: [], reaction };
  const inner = normalizeMessageContent(message.message);
  const content = inner && readContent(inner, (other) => isOwnKey(other, me));
  return content && (content.text !== "" || content.media.length > 0) ? content : undefined;
}

interface Place {
  readonly chat: string;
  readonly id: string;
  readonly isGroup: boolean;
}

/** Returns the chat of a message if it concerns the host. The account's own messages count in its own chat only. */
async function readPlace({ key }: WAMessage, { me, isOwn }: Translation): Promise<Place | undefined> {
  const { remoteJid: chat, id, fromMe } = key;
  if (!chat || !id) return undefined;
  const isGroup = isJidGroup(chat) === true;
  if (!isGroup && !isLidUser(chat) && !isPnUser(chat)) return undefined;
  const isSelf = !isGroup && isSame(me, chat);
  if (fromMe && (!isSelf || (await isOwn(id)))) return undefined;
  return { chat, id, isGroup };
}

interface People {
  readonly sender: string;
  readonly alias: string | undefined;
  /** The direct chat's person. */
  readonly chat: string;
}

async function readPeople(
  { key }: WAMessage,
  isGroup: boolean,
  { me, lidOf }: Translation,
): Promise<People | undefined> {
  const [raw, alternative] = isGroup ? [key.participant, key.participantAlt] : [key.remoteJid, key.remoteJidAlt];
  if (!raw) return undefined;
  const ids = [raw, alternative].filter((one) => one != null && one !== "").map((one) => jidNormalizedUser(one ?? ""));
  const pn = ids.find((one) => isPnUser(one));
  const lid = ids.find((one) => isLidUser(one)) ?? (pn === undefined ? undefined : await lidOf(pn));
  const known = lid ?? pn;
  if (known === undefined) return undefined;
  if (isSame(me, known)) {
    const own = me.lid ? jidNormalizedUser(me.lid) : jidNormalizedUser(me.pn);
    return { sender: own, alias: jidNormalizedUser(me.pn), chat: own };
  }
  return { sender: known, alias: lid === undefined ? undefined : pn, chat: known };
}

/** The platform marks it, counts how often, or names the channel that it comes from. */
function isForwarded(context: proto.IContextInfo): boolean {
  const { isForwarded: isMarked, forwardingScore, forwardedNewsletterMessageInfo: newsletter } = context;
  return isMarked === true || (forwardingScore ?? 0) > 0 || newsletter != null;
}

function readQuote(context: proto.IContextInfo, me: Account): Arrival["quote"] {
  const { stanzaId, participant, quotedMessage } = context;
  if (!stanzaId) return undefined;
  const inner = normalizeMessageContent(quotedMessage ?? undefined);
  const text = inner && readContent(inner, () => false)?.text;
  return {
    id: stanzaId,
    author: participant ? jidNormalizedUser(participant) : undefined,
    text: text === "" ? undefined : text,
    toAgent: participant ? isSame(me, participant) : false,
  };
}

/** True when the message that another one refers to is ours. */
function isOwnKey({ participant }: proto.IMessageKey, me: Account): boolean {
  return participant != null && participant !== "" && isSame(me, participant);
}
