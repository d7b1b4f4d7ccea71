import { deflateSync } from "node:zlib";

import { getBinaryNodeChild, proto } from "@whiskeysockets/baileys";
import type { BinaryNode } from "@whiskeysockets/baileys";

import type { Connection } from "./connection.ts";
import { contentOf } from "./content.ts";
import type { Group } from "./groups.ts";
import type { Companion, Person } from "./person.ts";
import { attribute, childOf, freshId, nowSeconds, stanza } from "./stanza.ts";
import type { Spoken, World } from "./world.ts";

/** A message of a phone, ready to be encrypted. */
export interface Speech {
  readonly id: string;
  readonly encoded: Uint8Array;
  /** Seconds since 1970. */
  readonly sentAt?: string | undefined;
  /** The sender key is kept back, so that clients who do not have it must ask again. */
  readonly withoutKey?: boolean | undefined;
}

const acknowledged = new Set(["message", "notification", "receipt"]);

/**
 * Brings stanzas to the clients: what phones say, receipts, changes. Whoever is away gets them after the next login.
 */
export class Delivery {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Sends it, and keeps it until the client has acknowledged it. */
  push(companion: Companion, node: BinaryNode): void {
    const { id } = node.attrs;
    if (acknowledged.has(node.tag) && id !== undefined) companion.pending.set(`${node.tag} ${id}`, node);
    companion.connection?.send(node);
  }

  /** The client has it. */
  confirm(companion: Companion, kind: string, id: string): void {
    companion.pending.delete(`${kind} ${id}`);
  }

  /** A receipt for messages, other than one that asks for them again, says that the client has them. */
  confirmMessages(companion: Companion, ids: readonly string[]): void {
    for (const id of ids) companion.pending.delete(`message ${id}`);
  }

  /** All that waited, marked as such. */
  sendBacklog(companion: Companion): void {
    const waiting = [...companion.pending.values()];
    const count = String(waiting.length);
    const preview = { count, message: count, notification: "0", receipt: "0", appdata: "0" };
    if (waiting.length > 0) companion.connection?.send(stanza("ib", {}, [stanza("offline_preview", preview)]));
    for (const node of waiting) {
      companion.connection?.send({ ...node, attrs: { ...node.attrs, offline: "1" } });
    }
    companion.connection?.send(stanza("ib", {}, [stanza("offline", { count })]));
  }

  async sayInGroup(speaker: Person, group: Group, speech: Speech): Promise<void> {
    const { enc, keyDistribution } = await speaker.phone.encryptForGroup(group.id, speech.encoded);
    const keyMessage = proto.Message.encode({ senderKeyDistributionMessage: keyDistribution }).finish();
    const other = group.addressing === "lid" ? "participant_pn" : "participant_lid";
    const attributes = {
      from: group.id,
      participant: speaker.jid(group.addressing),
      ...(!group.oneName && { [other]: speaker.jid(group.addressing === "lid" ? "pn" : "lid") }),
      addressing_mode: group.addressing,
    };
    const spoken = this.#remember(speaker, group.id, speech, keyMessage);
    for (const companion of group.members.flatMap(({ companions }) => [...companions.values()])) {
      const content = [enc];
      const shared = `${group.id} ${jidOf(companion)}`;
      if (!speech.withoutKey && !speaker.sharedKeys.has(shared)) {
        content.unshift(await this.#encrypt(speaker, companion, keyMessage));
        speaker.sharedKeys.add(shared);
      }
      this.#deliver(spoken, companion, messageStanza(speaker, speech, attributes, content));
    }
  }

  /** To another account's devices and, as what one's own phone has sent, to one's own. */
  async sayTo(speaker: Person, receiver: Person, speech: Speech): Promise<void> {
    const spoken = this.#remember(speaker, receiver.jid("lid"), speech);
    const from = { from: speaker.jid("lid"), addressing_mode: "lid" };
    if (receiver !== speaker) {
      for (const companion of receiver.companions.values()) {
        const content = [await this.#encrypt(speaker, companion, speech.encoded)];
        const attributes = { ...from, sender_pn: speaker.jid("pn") };
        this.#deliver(spoken, companion, messageStanza(speaker, speech, attributes, content));
      }
    }
    const message = proto.Message.decode(speech.encoded);
    const copy = proto.Message.encode({
      deviceSentMessage: { destinationJid: receiver.jid("lid"), message },
    }).finish();
    for (const companion of speaker.companions.values()) {
      const attributes = { ...from, recipient: receiver.jid("lid"), recipient_pn: receiver.jid("pn") };
      const content = [await this.#encrypt(speaker, companion, copy)];
      this.#deliver(spoken, companion, messageStanza(speaker, speech, attributes, content));
    }
  }

  /** Something that is between a phone and its own companions, such as the history. */
  async tellCompanions(person: Person, message: proto.IMessage): Promise<void> {
    const encoded = proto.Message.encode(message).finish();
    for (const companion of person.companions.values()) {
      const enc = await this.#encrypt(person, companion, encoded);
      const attributes = { from: person.jid("pn"), category: "peer" };
      this.push(companion, messageStanza(person, { id: freshId(), encoded }, attributes, [enc]));
    }
  }

  async sendHistory(person: Person, history: proto.IHistorySync): Promise<void> {
    await this.tellCompanions(person, historyMessage(history));
  }

  /** A stranger claims to be the phone of the account. */
  async sendForgedHistory(forger: Person, victim: Person, history: proto.IHistorySync): Promise<void> {
    await this.sayTo(forger, victim, {
      id: freshId(),
      encoded: proto.Message.encode(historyMessage(history)).finish(),
    });
  }

  /** A phone could not decrypt a message of a client, and sends fresh keys along. */
  askAgain(sender: Companion, person: Person, id: string, { group, count }: { group: Group; count: number }): void {
    const [registration, type, identity, signedPreKey, preKey] = person.phone.bundle();
    const content = [stanza("retry", { count: String(count), id, t: nowSeconds(), v: "1" })];
    if (registration) content.push(registration);
    const keys = [type, identity, preKey, signedPreKey].filter((part) => part !== undefined);
    content.push(stanza("keys", {}, keys));
    const from = { from: group.id, participant: person.jid(group.addressing) };
    this.push(sender, stanza("receipt", { ...from, id, type: "retry", t: nowSeconds() }, content));
  }

  /** Delivers a message again, byte for byte. */
  repeat(id: string): void {
    const spoken = this.#world.spoken.get(id);
    if (!spoken) throw new Error(`nobody's phone has sent ${id}`);
    for (const [companion, node] of spoken.stanzas) this.push(companion, node);
  }

  /**
   * A client could not decrypt: the phone starts a new session with it and sends the message and its sender key again.
   */
  async answerRetry(connection: Connection, receipt: BinaryNode): Promise<void> {
    const companion = connection.companion;
    const spoken = this.#world.spoken.get(attribute(receipt, "id"));
    const node = companion && spoken?.stanzas.get(companion);
    if (!companion || !spoken || !node) return;
    const keys = getBinaryNodeChild(receipt, "keys");
    const own = Array.isArray(keys?.content)
      ? [childOf(receipt, "registration"), ...keys.content]
      : bundleOf(companion);
    await spoken.speaker.phone.startSession(jidOf(companion), stanza("user", {}, own));
    // Encoded messages that are joined are one message with the fields of both.
    const encoded = Buffer.concat([spoken.encoded, spoken.keyDistribution ?? Buffer.alloc(0)]);
    const enc = await spoken.speaker.phone.encryptFor(jidOf(companion), encoded);
    enc.attrs["count"] = attribute(childOf(receipt, "retry"), "count");
    this.push(companion, { ...node, content: [enc] });
  }

  async #encrypt(speaker: Person, companion: Companion, encoded: Uint8Array): Promise<BinaryNode> {
    const jid = jidOf(companion);
    if (!(await speaker.phone.hasSession(jid))) {
      await speaker.phone.startSession(jid, stanza("user", {}, bundleOf(companion)));
    }
    return speaker.phone.encryptFor(jid, encoded);
  }

  #remember(speaker: Person, chat: string, speech: Speech, keyDistribution?: Uint8Array): Spoken {
    const { id, encoded } = speech;
    const content = contentOf(proto.Message.decode(encoded));
    const spoken = { id, speaker, encoded, keyDistribution, text: content.text, stanzas: new Map() };
    this.#world.spoken.set(id, spoken);
    return spoken;
  }

  #deliver(spoken: Spoken, companion: Companion, node: BinaryNode): void {
    spoken.stanzas.set(companion, node);
    this.push(companion, node);
  }
}

function historyMessage(history: proto.IHistorySync): proto.IMessage {
  const historySyncNotification = {
    syncType: history.syncType ?? null,
    progress: 100,
    chunkOrder: 1,
    initialHistBootstrapInlinePayload: deflateSync(proto.HistorySync.encode(history).finish()),
  };
  const type = proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION;
  return { protocolMessage: { type, historySyncNotification } };
}

/** Companions are known to others by their LID, whatever the group's addressing. */
export function jidOf({ person, device }: Companion): string {
  return person.jid("lid", device);
}

/** The keys with which somebody can start a session with a client; a pre-key is used up. */
export function bundleOf(companion: Companion): BinaryNode[] {
  const parts = [
    stanza("registration", {}, companion.registration),
    stanza("type", {}, Buffer.from([5])),
    stanza("identity", {}, companion.identity),
  ];
  if (companion.signedPreKey) parts.push(companion.signedPreKey);
  const preKey = companion.preKeys.shift();
  if (preKey) parts.push(preKey);
  return parts;
}

function messageStanza(
  speaker: Person,
  speech: Speech,
  attributes: Readonly<Record<string, string>>,
  content: BinaryNode[],
): BinaryNode {
  const common = { id: speech.id, t: speech.sentAt ?? nowSeconds(), type: "text", notify: speaker.name };
  return stanza("message", { ...common, ...attributes }, content);
}
