import type { BinaryNode } from "@whiskeysockets/baileys";

import type { Content } from "./content.ts";
import { noFaults } from "./faults.ts";
import type { Faults } from "./faults.ts";
import type { Group } from "./groups.ts";
import { Person } from "./person.ts";
import type { Companion, PersonFacts } from "./person.ts";
import { userOf } from "./stanza.ts";

/** A message that somebody's phone has sent, as long as it may have to be sent again. */
export interface Spoken {
  readonly id: string;
  readonly speaker: Person;
  readonly encoded: Uint8Array;
  readonly keyDistribution: Uint8Array | undefined;
  readonly text: string;
  readonly stanzas: Map<Companion, BinaryNode>;
}

/** An entry of a chat on a phone. */
export interface InboxEntry {
  readonly id: string;
  readonly chat: string;
  readonly author: string;
  readonly content: Content;
}

/** A message stanza of a client, and what became of it. A message that is sent twice is two of them. */
export interface Send {
  readonly id: string;
  readonly account: string;
  readonly chat: string;
  /** Names of those whose phones could read it. */
  readonly readBy: string[];
  readonly errors: { readonly member: string; readonly error: string }[];
  readonly edit: string | undefined;
  readonly fault: Faults["message"];
}

/** A receipt that a client has sent. */
export interface SeenReceipt {
  readonly account: string;
  readonly type: string;
  readonly chat: string;
  readonly ids: readonly string[];
}

/** "Is typing" of a client, or the end of it. */
export interface SeenTyping {
  readonly account: string;
  readonly chat: string;
  readonly state: string;
}

/** All that the server knows. */
export class World implements Disposable {
  readonly people: Person[] = [];
  readonly groups = new Map<string, Group>();
  readonly faults: Faults = noFaults();
  readonly spoken = new Map<string, Spoken>();
  readonly senders = new Map<string, Companion>();
  readonly sends: Send[] = [];
  /** The accounts of clients that have logged in, one entry for each time. */
  readonly logins: string[] = [];
  readonly receipts: SeenReceipt[] = [];
  readonly typing: SeenTyping[] = [];
  /** Phone numbers whose LIDs clients have asked for, one entry for each query. */
  readonly lookUps: string[][] = [];
  /** Stanzas in both directions, for people who look for a mistake. */
  readonly trace: string[] = [];
  readonly #inboxes = new Map<Person, Map<string, InboxEntry>>();

  addPerson(facts: PersonFacts): Person {
    const person = new Person(facts);
    this.people.push(person);
    return person;
  }

  /** By phone number or LID, with or without a device. */
  personOf(jid: string | undefined): Person | undefined {
    const user = userOf(jid);
    return this.people.find(({ pn, lid }) => pn === user || lid === user);
  }

  named(name: string): Person {
    const person = this.people.find((candidate) => candidate.name === name);
    if (!person) throw new Error(`nobody is called ${name}`);
    return person;
  }

  /** Author and text of a message. */
  find(id: string): { readonly author: Person; readonly text: string } {
    const spoken = this.spoken.get(id);
    if (spoken) return { author: spoken.speaker, text: spoken.text };
    const sender = this.senders.get(id);
    if (!sender) throw new Error(`there is no message ${id}`);
    const shown = [...this.#inboxes.values()].flatMap((inbox) => [...inbox.values()]).find((entry) => entry.id === id);
    return { author: sender.person, text: shown?.content.text ?? "" };
  }

  group(id: string): Group {
    const group = this.groups.get(id);
    if (!group) throw new Error(`there is no group ${id}`);
    return group;
  }

  /** Phones show a message once, however often it arrives. */
  show(person: Person, entry: InboxEntry): void {
    const inbox = this.#inboxes.get(person) ?? new Map<string, InboxEntry>();
    this.#inboxes.set(person, inbox);
    const key = `${entry.author} ${entry.id}`;
    if (!inbox.has(key)) inbox.set(key, entry);
  }

  inbox(person: Person): InboxEntry[] {
    return [...(this.#inboxes.get(person)?.values() ?? [])];
  }

  [Symbol.dispose](): void {
    for (const person of this.people) person[Symbol.dispose]();
  }
}
