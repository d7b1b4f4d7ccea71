import { getBinaryNodeChild, getBinaryNodeChildren } from "@whiskeysockets/baileys";
import type { BinaryNode, proto } from "@whiskeysockets/baileys";

import type { Connection } from "./connection.ts";
import { contentOf, fileOf } from "./content.ts";
import type { FileContent } from "./content.ts";
import { jidOf } from "./delivery.ts";
import type { Delivery } from "./delivery.ts";
import { takeMessageFault } from "./faults.ts";
import type { Group } from "./groups.ts";
import type { Companion, Person } from "./person.ts";
import { attribute, childOf, deviceOf, nowSeconds, stanza } from "./stanza.ts";
import type { Send, World } from "./world.ts";

/** Takes messages of clients: phones decrypt what is for them, other clients get theirs forwarded. */
export class Intake {
  /** Files by message, as the first phone that could decrypt it has found them. */
  readonly files = new Map<string, FileContent>();
  readonly #world: World;
  readonly #delivery: Delivery;

  constructor(world: World, delivery: Delivery) {
    this.#world = world;
    this.#delivery = delivery;
  }

  async receive(connection: Connection, sender: Companion, node: BinaryNode): Promise<void> {
    const id = attribute(node, "id");
    const chat = attribute(node, "to");
    const group = this.#world.groups.get(chat);
    const fault = chat.endsWith("@g.us") && !group?.has(sender.person) ? 403 : takeMessageFault(this.#world.faults);
    const account = sender.person.name;
    const send: Send = { id, account, chat, readBy: [], errors: [], edit: node.attrs["edit"], fault };
    this.#world.sends.push(send);
    this.#world.senders.set(id, sender);
    if (fault === "lost") return connection.cut();
    const ack = { id, class: "message", from: chat, t: nowSeconds() };
    if (typeof fault === "number") {
      connection.send(stanza("ack", { ...ack, error: String(fault) }));
      return undefined;
    }
    await this.#distribute(sender, node, send);
    if (fault === "cut") return connection.cut();
    if (fault === null) connection.send(stanza("ack", ack));
    this.#sendReceipts(sender, send, group);
    return undefined;
  }

  async #distribute(sender: Companion, node: BinaryNode, send: Send): Promise<void> {
    const group = this.#world.groups.get(send.chat);
    const shared = getBinaryNodeChildren(node, "enc");
    const addressed = new Map<string, BinaryNode>();
    for (const to of getBinaryNodeChildren(getBinaryNodeChild(node, "participants"), "to")) {
      addressed.set(attribute(to, "jid"), childOf(to, "enc"));
    }
    for (const [jid, enc] of addressed) {
      const person = this.#world.personOf(jid);
      if (!person) send.errors.push({ member: jid, error: "nobody has this number" });
      else if (deviceOf(jid) === 0) await this.#read(person, sender, send, [enc]);
      else this.#forward(person.companions.get(deviceOf(jid)), sender, node, [enc, ...shared]);
    }
    for (const person of this.#readersOf(sender, node, group)) {
      if (shared.length > 0) await this.#read(person, sender, send, shared);
      for (const companion of person.companions.values()) {
        const isServed = [...addressed.keys()].some(
          (jid) => this.#world.personOf(jid) === person && deviceOf(jid) === companion.device,
        );
        if (group && !isServed) this.#forward(companion, sender, node, shared);
      }
    }
  }

  /** Devices that receive a message for several. */
  #readersOf(sender: Companion, node: BinaryNode, group: Group | undefined): Person[] {
    const single = node.attrs["participant"] ?? (group ? undefined : node.attrs["to"]);
    if (single === undefined) return group?.members ?? [];
    const person = this.#world.personOf(single);
    return person ? [person] : [];
  }

  /** A phone decrypts. A stanza that carries only a sender key shows nothing. */
  async #read(person: Person, sender: Companion, send: Send, encs: readonly BinaryNode[]): Promise<void> {
    for (const enc of encs) {
      try {
        const message = await person.phone.decrypt(enc, { author: jidOf(sender), group: send.chat });
        if (hasContent(message)) this.#show(person, sender, send, message);
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        send.errors.push({ member: person.name, error: text });
        this.#askAgain(person, sender, send);
      }
    }
  }

  /** Asks again, as phones do; a few times per message. */
  #askAgain(person: Person, sender: Companion, send: Send): void {
    const group = this.#world.groups.get(send.chat);
    const failures = this.#world.sends.filter(({ id, errors }) => {
      return id === send.id && errors.some(({ member }) => member === person.name);
    });
    if (group && failures.length <= 3)
      this.#delivery.askAgain(sender, person, send.id, { group, count: failures.length });
  }

  #show(person: Person, sender: Companion, send: Send, message: proto.IMessage): void {
    const file = fileOf(message);
    if (file) this.files.set(send.id, file);
    if (!send.readBy.includes(person.name)) send.readBy.push(person.name);
    const { id, chat } = send;
    this.#world.show(person, { id, chat, author: sender.person.name, content: contentOf(message) });
  }

  #forward(companion: Companion | undefined, sender: Companion, node: BinaryNode, content: BinaryNode[]): void {
    if (!companion || companion === sender || content.length === 0) return;
    const group = this.#world.groups.get(attribute(node, "to"));
    const common = { id: attribute(node, "id"), t: nowSeconds(), type: node.attrs["type"], notify: sender.person.name };
    const from = group
      ? {
          from: group.id,
          participant: sender.person.jid(group.addressing, sender.device),
          participant_pn: sender.person.jid("pn"),
          participant_lid: sender.person.jid("lid"),
          addressing_mode: group.addressing,
        }
      : { from: jidOf(sender), sender_pn: sender.person.jid("pn"), addressing_mode: "lid" };
    this.#delivery.push(companion, stanza("message", { ...common, ...from }, content));
  }

  /** Phones confirm what they could read. */
  #sendReceipts(sender: Companion, send: Send, group: Group | undefined): void {
    for (const name of send.readBy) {
      const person = this.#world.named(name);
      if (person === sender.person) continue;
      this.#delivery.push(sender, receiptOf(person, send.id, group));
    }
  }
}

/** A receipt of somebody's phone; without a type it says that the message has arrived. */
export function receiptOf(person: Person, id: string, group: Group | undefined, type?: string): BinaryNode {
  const from = group
    ? { from: group.id, participant: person.jid(group.addressing) }
    : { from: person.jid("lid"), participant: undefined };
  return stanza("receipt", { ...from, id, type, t: nowSeconds() });
}

function hasContent(message: proto.IMessage): boolean {
  const names = Object.keys(message).filter((name) => message[name as keyof proto.IMessage] !== null);
  return names.some((name) => name !== "senderKeyDistributionMessage" && name !== "messageContextInfo");
}
