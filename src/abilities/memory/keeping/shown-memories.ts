import { hash } from "node:crypto";

import type { ShownMemory } from "./show-memories.ts";

/** Maximum remembered ids; older ones may be shown again. */
const mostShown = 2_000;

/** Memories that the model of a conversation sees anyway, as far as this process knows. */
export class ShownMemories {
  /** Time from which all messages are in the conversation. */
  readonly since: number;
  readonly #shown = new Set<string>();
  #last: { readonly messages: ReadonlySet<number>; readonly shown: readonly string[] } | undefined;

  constructor(since: number) {
    this.since = since;
  }

  /**
   * Those of the memories that it has not been shown; from now on it has. `messages`: numbers of what they go with.
   * What goes with the same ones again was not shown the last time: the conversation did not get that far.
   */
  show<T extends ShownMemory>(memories: readonly T[], messages: readonly number[]): T[] {
    if (messages.some((seq) => this.#last?.messages.has(seq)))
      for (const key of this.#last?.shown ?? []) this.#shown.delete(key);
    const unseen = memories.filter((memory) => !this.#shown.has(keyOf(memory)));
    const shown = unseen.map(keyOf);
    this.#last = { messages: new Set(messages), shown };
    for (const key of shown) this.#shown.add(key);
    for (const key of this.#shown) {
      if (this.#shown.size <= mostShown) break;
      this.#shown.delete(key);
    }
    return unseen;
  }
}

/** A memory may get other words under the same id. */
function keyOf({ id, text, photo = "", isGlobal = false }: ShownMemory): string {
  return `${isGlobal ? "global" : "own"} ${id} ${hash("sha256", `${text}\n${photo}`)}`;
}
