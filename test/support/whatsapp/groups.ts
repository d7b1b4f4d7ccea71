import { randomBytes } from "node:crypto";

import type { BinaryNode } from "@whiskeysockets/baileys";

import type { Person } from "./person.ts";
import { nowSeconds, stanza } from "./stanza.ts";
import type { Addressing } from "./stanza.ts";

type Role = "member" | "admin" | "superadmin";

/** A group chat: who is in it and what the server says of it. */
export class Group {
  readonly id = `1203630${randomBytes(5).readUIntBE(0, 5)}@g.us`;
  readonly addressing: Addressing;
  readonly roles: Map<Person, Role>;
  readonly owner: Person;
  readonly oneName: boolean;
  readonly #created = nowSeconds();
  subject: string;
  description: string | undefined;

  /** The first of the members has made it. `oneName`: nobody is told by which other name a member is known. */
  constructor(subject: string, addressing: Addressing, members: readonly [Person, ...Person[]], oneName = false) {
    this.oneName = oneName;
    this.subject = subject;
    this.addressing = addressing;
    this.owner = members[0];
    this.roles = new Map(members.map((member) => [member, member === this.owner ? "superadmin" : "member"]));
  }

  get members(): Person[] {
    return [...this.roles.keys()];
  }

  has(person: Person): boolean {
    return this.roles.has(person);
  }

  isAdmin(person: Person): boolean {
    return this.has(person) && this.roles.get(person) !== "member";
  }

  /** Somebody as stanzas of this group name them, with the other name beside it. */
  participant(person: Person, attributes: Readonly<Record<string, string | undefined>> = {}): BinaryNode {
    const jid = person.jid(this.addressing);
    const other = this.addressing === "lid" ? { phone_number: person.jid("pn") } : { lid: person.jid("lid") };
    return stanza("participant", { jid, ...(!this.oneName && other), ...attributes });
  }

  /** The server's description of the group. */
  describe(): BinaryNode {
    const content = [...this.roles].map(([person, role]) =>
      this.participant(person, { type: role === "member" ? undefined : role }),
    );
    if (this.description !== undefined) {
      const body = stanza("body", {}, Buffer.from(this.description));
      content.push(stanza("description", { id: "description-1", t: this.#created }, [body]));
    }
    const owner = this.owner.jid(this.addressing);
    const attributes = {
      id: this.id.split("@")[0],
      subject: this.subject,
      s_t: this.#created,
      s_o: owner,
      creation: this.#created,
      creator: owner,
      creator_pn: this.oneName ? undefined : this.owner.jid("pn"),
      addressing_mode: this.addressing,
      size: String(this.roles.size),
    };
    return stanza("group", attributes, content);
  }
}
