import type { ChannelDefinition, KnownIds, SamePerson } from "../../channels/define-channel.ts";
import { type MemberId, memberKey } from "../../domain/people/person.ts";
import type { ChannelStateStore } from "../../stores/contract/store.ts";

/** A channel's ways of writing ids. */
export type IdForms = Pick<ChannelDefinition, "name" | "canonicalId" | "writtenId">;

/**
 * Far more than the people of one home; the one that was learned first goes first, and a channel asks again for those
 * that are named.
 */
const mostPairs = 20_000;

/**
 * Which ids of a channel are one person's: kept in the store, looked up in memory. A pair is never part of another one.
 */
export class Aliases {
  readonly #forms: ReadonlyMap<string, IdForms>;
  /** First id and the other one of each pair, by channel, in the order in which they were learned. */
  readonly #pairs = new Map<string, Map<string, string>>();
  /** The other id, by the key of each. */
  readonly #others = new Map<string, string>();
  /** Keys without an alias on the platform. */
  readonly #alone = new Set<string>();

  constructor(forms: readonly IdForms[]) {
    this.#forms = new Map(forms.map((form) => [form.name, form]));
  }

  /** With what is on disk of these channels. */
  static async load(
    state: Pick<ChannelStateStore, "list">,
    forms: readonly IdForms[],
    channels: readonly string[],
  ): Promise<Aliases> {
    const aliases = new Aliases(forms);
    for (const channel of channels) {
      aliases.#pairs.set(channel, new Map());
      for (const [id, alias] of await state.list(spaceOf(channel))) {
        aliases.#note(channel, { id, alias: Buffer.from(alias).toString("utf8") });
      }
    }
    return aliases;
  }

  /** Other keys by which the configuration may name this person, as `memberKey` writes them. */
  keysOf(who: MemberId): readonly string[] {
    const { channel } = who;
    const forms = this.#forms.get(channel);
    const id = forms?.canonicalId?.(who.id) ?? who.id;
    const other = this.#others.get(memberKey({ channel, id }));
    if (forms?.writtenId === undefined && other === undefined) return [];
    const ids = [id, ...(other === undefined ? [] : [other])];
    const written = ids.flatMap((one) => forms?.writtenId?.(one) ?? []);
    const all = new Set([...ids, ...written]);
    all.delete(who.id);
    return [...all].map((one) => memberKey({ channel, id: one }));
  }

  /** True when two ids may be one person's. Ids of one kind, such as two phone numbers, never are. */
  mayBeSame(one: MemberId, other: MemberId): boolean {
    if (one.channel !== other.channel || !this.#pairs.has(one.channel)) return false;
    return this.#isOpen(one) && this.#isOpen(other) && this.#isWritten(one) !== this.#isWritten(other);
  }

  /** Ids of which no other one is known, in the form that people write, where there is one. */
  halfKnown(channel: string, ids: readonly string[]): string[] {
    const canonical = new Set(ids.map((id) => this.#canonical(channel, id)));
    const half = [...canonical].filter((id) => !this.#others.has(memberKey({ channel, id })));
    return half.flatMap((id) => this.#forms.get(channel)?.writtenId?.(id) ?? []);
  }

  /** Ids for a channel. `named`: its ids in the configuration. */
  of(channel: string, state: Pick<ChannelStateStore, "apply">, named: () => readonly string[]): KnownIds {
    return {
      same: (pairs) => this.#learn(channel, pairs, state),
      open: () => {
        const ids = named().map((id) => this.#canonical(channel, id));
        return [...new Set(ids)].filter((id) => !this.#others.has(memberKey({ channel, id })));
      },
      none: (ids) => {
        for (const id of ids) this.#alone.add(memberKey({ channel, id }));
      },
    };
  }

  async #learn(channel: string, pairs: readonly SamePerson[], state: Pick<ChannelStateStore, "apply">): Promise<void> {
    const changes = new Map<string, string | null>();
    for (const pair of pairs) for (const [id, alias] of this.#note(channel, pair)) changes.set(id, alias);
    if (changes.size === 0) return;
    const values = [...changes].map(([id, alias]) => [id, alias === null ? null : Buffer.from(alias)] as const);
    try {
      await state.apply(spaceOf(channel), new Map(values));
    } catch (error) {
      // To be written when it is told again.
      for (const [id] of changes) this.#forget(channel, id);
      throw error;
    }
  }

  /** Rows to write, by first id. */
  #note(channel: string, { id, alias }: SamePerson): [string, string | null][] {
    const pairs = this.#pairs.get(channel) ?? new Map<string, string>();
    this.#pairs.set(channel, pairs);
    if (id === alias || this.#others.get(memberKey({ channel, id })) === alias) return [];
    const former = [id, alias].flatMap((one) => [one, this.#others.get(memberKey({ channel, id: one })) ?? one]);
    const gone = new Set(former.filter((one) => pairs.has(one)));
    for (const one of gone) this.#forget(channel, one);
    pairs.set(id, alias);
    this.#others.set(memberKey({ channel, id }), alias);
    this.#others.set(memberKey({ channel, id: alias }), id);
    if (pairs.size > mostPairs) {
      const [first = id] = pairs.keys();
      this.#forget(channel, first);
      gone.add(first);
    }
    return [...[...gone].map((one): [string, null] => [one, null]), [id, alias]];
  }

  #forget(channel: string, id: string): void {
    const pairs = this.#pairs.get(channel);
    const alias = pairs?.get(id);
    if (alias === undefined) return;
    pairs?.delete(id);
    for (const one of [id, alias]) this.#others.delete(memberKey({ channel, id: one }));
  }

  #isOpen({ channel, id }: MemberId): boolean {
    const key = memberKey({ channel, id: this.#canonical(channel, id) });
    return !this.#others.has(key) && !this.#alone.has(key);
  }

  #isWritten({ channel, id }: MemberId): boolean {
    return this.#forms.get(channel)?.writtenId?.(this.#canonical(channel, id)) !== undefined;
  }

  #canonical(channel: string, id: string): string {
    return this.#forms.get(channel)?.canonicalId?.(id) ?? id;
  }
}

function spaceOf(channel: string): string {
  return `${channel}/aliases`;
}
