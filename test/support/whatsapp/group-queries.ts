import { getBinaryNodeChild, getBinaryNodeChildren } from "@whiskeysockets/baileys";
import type { BinaryNode } from "@whiskeysockets/baileys";

import type { Administration, MemberChange } from "./administration.ts";
import type { Group } from "./groups.ts";
import type { Person } from "./person.ts";
import { attribute, childOf, firstChild, stanza, textOf } from "./stanza.ts";
import type { World } from "./world.ts";

/** A query that is refused, with the code of the platform. */
export class QueryRefused extends Error {
  override readonly name = "QueryRefused";
  readonly code: number;
  /** Nothing at all is answered. */
  readonly isMute: boolean;

  constructor(code: number, text: string, isMute = false) {
    super(text);
    this.code = code;
    this.isMute = isMute;
  }
}

/** Answers what clients ask about groups and does what they want done to them. */
export class GroupQueries {
  readonly #world: World;
  readonly #administration: Administration;

  constructor(world: World, administration: Administration) {
    this.#world = world;
    this.#administration = administration;
  }

  answer(actor: Person, query: BinaryNode): BinaryNode[] {
    const request = firstChild(query);
    if (!request) throw new QueryRefused(400, "bad-request");
    if (attribute(query, "to") === "@g.us") return this.#answerWithoutGroup(actor, request);
    const group = this.#groupOf(actor, attribute(query, "to"));
    switch (request.tag) {
      case "query":
        return [group.describe()];
      case "subject":
        this.#administration.changeSubject(group, actor, textOf(request));
        return [];
      case "description": {
        const body = getBinaryNodeChild(request, "body");
        this.#administration.changeDescription(group, actor, body && textOf(body));
        return [];
      }
      case "add":
      case "remove":
      case "promote":
      case "demote":
        return [this.#changeMembers(group, actor, request.tag, request)];
      default:
        throw new QueryRefused(501, "feature-not-implemented");
    }
  }

  #answerWithoutGroup(actor: Person, request: BinaryNode): BinaryNode[] {
    if (request.tag === "participating") {
      const groups = [...this.#world.groups.values()].filter((group) => group.has(actor));
      return [
        stanza(
          "groups",
          {},
          groups.map((group) => group.describe()),
        ),
      ];
    }
    if (request.tag === "create") {
      const people = this.#peopleOf(request);
      return [this.#administration.create(attribute(request, "subject"), "lid", [actor, ...people]).describe()];
    }
    if (request.tag === "leave") {
      const group = this.#groupOf(actor, attribute(childOf(request, "group"), "id"));
      this.#administration.change(group, actor, "remove", [actor]);
      return [stanza("leave", {}, [stanza("group", { id: group.id })])];
    }
    throw new QueryRefused(501, "feature-not-implemented");
  }

  #changeMembers(group: Group, actor: Person, change: MemberChange, request: BinaryNode): BinaryNode {
    if (!group.isAdmin(actor)) throw new QueryRefused(403, "forbidden");
    const people = this.#peopleOf(request);
    this.#administration.change(group, actor, change, people);
    return stanza(
      change,
      {},
      people.map((person) => group.participant(person)),
    );
  }

  #peopleOf(request: BinaryNode): Person[] {
    return getBinaryNodeChildren(request, "participant").map((participant) => {
      const person = this.#world.personOf(attribute(participant, "jid"));
      if (!person) throw new QueryRefused(404, "item-not-found");
      return person;
    });
  }

  #groupOf(actor: Person, id: string): Group {
    const group = this.#world.groups.get(id);
    if (!group) throw new QueryRefused(404, "item-not-found");
    if (!group.has(actor)) throw new QueryRefused(403, "forbidden");
    return group;
  }
}
