import { LRUCache } from "lru-cache";

/** Lists that are known at once; the one that nobody has used for longest is forgotten first. */
const mostLists = 512;

/** A thing as it was when it was shown. */
export interface ShownItem {
  readonly id: string;
  readonly text: string;
  /** Of a memory: the folder of the agent whose it is. */
  readonly folder?: string | undefined;
}

/**
 * What numbers in a chat mean: those of the list that somebody asked for last, or of the newest one that the chat was
 * shown. A number never means what has come into its place since. Kept in memory: after a restart the list has to be
 * shown again.
 */
export class ShownLists {
  readonly #lists = new LRUCache<string, readonly ShownItem[]>({ max: mostLists });

  shown(chat: string, asker: string, items: readonly ShownItem[]): void {
    for (const key of [keyOf(chat, asker), keyOf(chat)]) this.#lists.set(key, items);
  }

  /** Undefined: no list was shown. */
  listFor(chat: string, asker: string): readonly ShownItem[] | undefined {
    return this.#lists.get(keyOf(chat, asker)) ?? this.#lists.get(keyOf(chat));
  }
}

function keyOf(chat: string, asker?: string): string {
  return JSON.stringify([chat, asker]);
}
