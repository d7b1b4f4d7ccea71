import type { BinaryNode } from "@whiskeysockets/baileys";

import type { Delivery } from "./delivery.ts";
import { Group } from "./groups.ts";
import type { Person } from "./person.ts";
import { freshId, nowSeconds, stanza } from "./stanza.ts";
import type { Addressing } from "./stanza.ts";
import type { World } from "./world.ts";

/** Changes of members. */
export type MemberChange = "add" | "remove" | "promote" | "demote";

/** Changes groups and tells the clients of all who are, or were, in them. */
export class Administration {
  readonly #world: World;
  readonly #delivery: Delivery;

  constructor(world: World, delivery: Delivery) {
    this.#world = world;
    this.#delivery = delivery;
  }

  create(subject: string, addressing: Addressing, members: readonly [Person, ...Person[]], oneName = false): Group {
    const group = new Group(subject, addressing, members, oneName);
    this.#world.groups.set(group.id, group);
    this.#tell(group, members[0], stanza("create", { type: "new" }, [group.describe()]));
    return group;
  }

  change(group: Group, actor: Person, change: MemberChange, people: readonly Person[]): void {
    const before = group.members;
    for (const person of people) {
      if (change === "remove") group.roles.delete(person);
      else group.roles.set(person, change === "promote" ? "admin" : "member");
    }
    const participants = people.map((person) => group.participant(person));
    const concerned = [...new Set([...before, ...group.members])];
    this.#tell(group, actor, stanza(change, {}, participants), concerned);
  }

  changeSubject(group: Group, actor: Person, subject: string): void {
    group.subject = subject;
    this.#tell(group, actor, stanza("subject", { subject, s_t: nowSeconds(), s_o: actor.jid(group.addressing) }));
  }

  changeDescription(group: Group, actor: Person, description: string | undefined): void {
    group.description = description;
    const body = stanza("body", {}, Buffer.from(description ?? ""));
    this.#tell(group, actor, stanza("description", { id: "description-1" }, [body]));
  }

  #tell(group: Group, actor: Person, change: BinaryNode, people: readonly Person[] = group.members): void {
    for (const companion of people.flatMap(({ companions }) => [...companions.values()])) {
      const attributes = {
        from: group.id,
        type: "w:gp2",
        id: freshId(),
        participant: actor.jid(group.addressing),
        participant_pn: actor.jid("pn"),
        notify: actor.name,
        addressing_mode: group.addressing,
        t: nowSeconds(),
      };
      this.#delivery.push(companion, stanza("notification", attributes, [change]));
    }
  }
}
