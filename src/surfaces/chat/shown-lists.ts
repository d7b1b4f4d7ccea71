import { LRUCache } from "lru-cache";

/** Maximum remembered lists; the least recently used one is forgotten first. */
const mostLists = 512;

/** A thing as it was when it was shown. */
export interface ShownItem {
  readonly id: string;
  readonly text: string;
  /** Folder of the agent whose memory it is. */
  readonly folder?: string | undefined;
}

/**
 * Meaning of list numbers in a chat: of the list last shown to the asker, or last shown in the chat. Later changes
 * never shift them. In memory: after a restart the list must be shown again.
 */
export class ShownLists {
  readonly #lists = new LRUCache<string, readonly ShownItem[]>({ max: mostLists });

  shown(chat: string, asker: string, items: readonly ShownItem[]): void {
    for (const key of [keyOf(chat, asker), keyOf(chat)]) this.#lists.set(key, items);
  }

  /** The last list; undefined when none was shown. */
  listFor(chat: string, asker: string): readonly ShownItem[] | undefined {
    return this.#lists.get(keyOf(chat, asker)) ?? this.#lists.get(keyOf(chat));
  }
}

function keyOf(chat: string, asker?: string): string {
  return JSON.stringify([chat, asker]);
}
