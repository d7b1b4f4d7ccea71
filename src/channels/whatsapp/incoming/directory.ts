import type { Sender } from "../../../domain/chats/message.ts";
import type { ChannelStateStore } from "../../../stores/contract/store.ts";
import type { ChatFacts } from "../../channel.ts";
import { isSame, userOf } from "../jids.ts";
import type { Account, Arrival, GroupFacts, GroupMember } from "../../../processes/message-schemas.ts";

/** Names that members chose, and groups with their members. Names survive a restart. */
export class Directory {
  readonly #store: ChannelStateStore;
  readonly #space: string;
  readonly #names = new Map<string, string>();
  /** Digits of a phone number → those of the LID. */
  readonly #lids = new Map<string, string>();
  readonly #groups = new Map<string, GroupFacts>();

  private constructor(store: ChannelStateStore, space: string) {
    this.#store = store;
    this.#space = space;
  }

  static async load(store: ChannelStateStore, space: string): Promise<Directory> {
    const directory = new Directory(store, space);
    for (const [user, name] of await store.list(space)) directory.#names.set(user, Buffer.from(name).toString("utf8"));
    return directory;
  }

  group(chat: string): GroupFacts | undefined {
    return this.#groups.get(chat);
  }

  /** Notes what is new and tells it in the host's words; the account itself is no member there. */
  learnGroup(facts: GroupFacts, me: Account | undefined): ChatFacts {
    const known = this.#groups.get(facts.chat);
    this.#groups.set(facts.chat, facts.left && known ? { ...known, left: true } : facts);
    for (const member of facts.members) this.#learnMember(member);
    if (facts.left) return { chat: facts.chat, left: true };
    const others = facts.members.filter(({ lid, pn }) => !me || !isSame(me, lid ?? pn ?? ""));
    return { chat: facts.chat, title: facts.title, members: others.map((member) => this.#senderOf(member)) };
  }

  async learnNames(names: readonly { readonly person: string; readonly name: string }[]): Promise<void> {
    const changes = new Map<string, Uint8Array>();
    for (const { person, name } of names) {
      const user = this.#userOf(person);
      if (name === "" || this.#names.get(user) === name) continue;
      this.#names.set(user, name);
      changes.set(user, Buffer.from(name));
    }
    await this.#store.apply(this.#space, changes);
  }

  async learnFrom({ sender, senderAlias, senderName }: Arrival): Promise<void> {
    if (senderAlias?.endsWith("@s.whatsapp.net")) this.#lids.set(userOf(senderAlias), userOf(sender));
    if (senderName) await this.learnNames([{ person: sender, name: senderName }]);
  }

  nameOf(person: string): string | undefined {
    return this.#names.get(this.#userOf(person));
  }

  /** The id by which a person's messages come, as far as known. */
  idOf(person: string): string {
    const lid = person.endsWith("@s.whatsapp.net") ? this.#lids.get(userOf(person)) : undefined;
    return lid === undefined ? person : `${lid}@lid`;
  }

  /** Members of a group by what others call them; names that several have are left out. */
  nameable(chat: string): ReadonlyMap<string, string> {
    const group = this.#groups.get(chat);
    const named = (group?.members ?? []).flatMap((member) => {
      const name = this.nameOf(member.lid ?? member.pn ?? "")?.toLowerCase();
      const id = (group && member[group.addressing]) ?? member.lid ?? member.pn;
      return name === undefined || id === undefined ? [] : [[name, id] as const];
    });
    return new Map(named.filter(([name]) => named.filter(([other]) => other === name).length === 1));
  }

  #learnMember({ lid, pn }: GroupMember): void {
    if (lid !== undefined && pn !== undefined) this.#lids.set(userOf(pn), userOf(lid));
  }

  #senderOf({ lid, pn }: GroupMember): Sender {
    const id = lid ?? pn ?? "";
    return { id, name: this.nameOf(id) ?? displayOf(pn ?? id) };
  }

  #userOf(person: string): string {
    const user = userOf(person);
    return this.#lids.get(user) ?? user;
  }
}

/** For people without a name: the phone number as it is written, or the digits of the LID. */
export function displayOf(person: string): string {
  return person.endsWith("@s.whatsapp.net") ? `+${userOf(person)}` : userOf(person);
}
