import type { GroupMetadata, WASocket } from "@whiskeysockets/baileys";
import { isLidUser, isPnUser, jidNormalizedUser, WAMessageAddressingMode } from "@whiskeysockets/baileys";

import { isSame } from "../jids.ts";
import type { Account, GroupFacts, GroupMember } from "../../../processes/message-schemas.ts";

/** The groups that the account is in: fetched once, kept up to date by what the server tells. */
export class Groups {
  readonly #socket: () => WASocket;
  readonly #me: () => Account;
  readonly #changed: (facts: GroupFacts) => void;
  readonly #known = new Map<string, GroupMetadata>();
  readonly #fetching = new Map<string, Promise<GroupMetadata | undefined>>();

  constructor(options: { socket: () => WASocket; me: () => Account; changed: (facts: GroupFacts) => void }) {
    this.#socket = options.socket;
    this.#me = options.me;
    this.#changed = options.changed;
  }

  cached(chat: string): GroupMetadata | undefined {
    return this.#known.get(chat);
  }

  forget(chat: string): void {
    this.#known.delete(chat);
  }

  /** Undefined when it cannot be had. */
  async facts(chat: string): Promise<GroupFacts | undefined> {
    const known = this.#known.get(chat) ?? (await this.#fetch(chat));
    return known && this.#factsOf(known);
  }

  /** Listens to the socket's events. */
  follow({ ev }: WASocket): void {
    ev.on("groups.upsert", (groups) => groups.forEach((group) => this.#learn(group)));
    ev.on("groups.update", (updates) => {
      for (const update of updates) {
        const { id } = update;
        const known = id === undefined ? undefined : this.#known.get(id);
        if (known) this.#learn({ ...known, ...update });
        else if (id !== undefined && update.participants && update.subject) this.#learn(update as GroupMetadata);
        else if (id !== undefined) void this.#fetch(id);
      }
    });
    ev.on("group-participants.update", ({ id, participants, action }) => {
      this.forget(id);
      const left = action === "remove" && participants.some((member) => isSame(this.#me(), member.id));
      if (left) this.#changed({ chat: id, addressing: "lid", members: [], left });
      else void this.#fetch(id);
    });
  }

  async #fetch(chat: string): Promise<GroupMetadata | undefined> {
    const running = this.#fetching.get(chat);
    if (running) return running;
    const fetching = this.#socket()
      .groupMetadata(chat)
      .then(
        (group) => this.#learn(group),
        () => undefined,
      );
    this.#fetching.set(chat, fetching);
    void fetching.then(() => this.#fetching.delete(chat));
    return fetching;
  }

  #learn(group: GroupMetadata): GroupMetadata {
    this.#known.set(group.id, group);
    this.#changed(this.#factsOf(group));
    return group;
  }

  #factsOf(group: GroupMetadata): GroupFacts {
    return {
      chat: group.id,
      title: group.subject,
      addressing: group.addressingMode === WAMessageAddressingMode.LID ? "lid" : "pn",
      members: group.participants.map(memberOf),
      left: false,
    };
  }
}

function memberOf({ id, lid, phoneNumber }: GroupMetadata["participants"][number]): GroupMember {
  const ids = [id, lid, phoneNumber].filter((one) => one !== undefined).map((one) => jidNormalizedUser(one));
  return { lid: ids.find((one) => isLidUser(one)), pn: ids.find((one) => isPnUser(one)) };
}
