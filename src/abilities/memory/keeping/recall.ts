import { LRUCache } from "lru-cache";
import type { Logger } from "pino";

import type { Group } from "../../../domain/chats/group.ts";
import type { StoredMessage } from "../../../domain/chats/message.ts";
import { type Origin, sortOrigins } from "../../../domain/people/origin.ts";
import type { Session } from "../../../domain/turns/session.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { sleep } from "../../../lib/time/sleep.ts";
import type { TurnStore } from "../../../stores/contract/store.ts";
import { originsOf } from "../item.ts";
import type { MemoryAt } from "../thread/memory-client.ts";
import type { Ahead, AlreadyShown } from "../thread/open-memories.ts";
import { type MemoryWriterOptions, saidId } from "./memory-writer.ts";
import { showMemories, type ShownMemory } from "./show-memories.ts";
import { ShownMemories } from "./shown-memories.ts";

export interface RecallerOptions {
  readonly turns: Pick<TurnStore, "history">;
  /** Memory of a group; undefined: no recall. */
  readonly memoryOf: (group: string) => MemoryAt | undefined;
  /** Global notes, where this group may read them and there are some. */
  readonly globalOf: (group: Place["group"]) => MemoryAt | undefined;
  /** Token budget of a turn; 0: no recall. */
  readonly tokens: () => number;
  readonly idOf: MemoryWriterOptions["idOf"];
  readonly faults: MemoryWriterOptions["faults"];
  readonly logger: Logger;
}

/** Recalled memories as shown to the model, with all their origins. */
export interface Recollection {
  readonly text: string;
  readonly origins: readonly Origin[];
}

/** A turn waits no longer than this; then it begins without. */
const longestMs = 400;
const mostFound = 12;
const mostQueryChars = 2_000;
/** Sessions of which it is known what their model sees. */
const mostKnown = 256;

/** Share of a turn's memory budget for global notes, and their maximum number. */
const globalShare = 0.25;
const mostGlobal = 3;

type Place = {
  readonly group: Pick<Group, "name" | "main">;
  /** Name of the group's or agent's memory. */
  readonly memoryName: string;
  readonly session: Session;
};

/**
 * Looks up what a group remembers that fits what is said. What the model sees in the conversation anyway is left out.
 */
export class Recall {
  readonly #options: RecallerOptions;
  /** Memories that the model sees, by session. */
  readonly #seen = new LRUCache<string, { readonly window: string; readonly sight: ShownMemories }>({ max: mostKnown });
  /** Last kind of lookup, by memory; the next turn probably wants the same. */
  readonly #ways = new LRUCache<string, Ahead>({ max: mostKnown });

  constructor(options: RecallerOptions) {
    this.#options = options;
  }

  /** A turn will ask for what fits this: it is looked up while the turn is begun. */
  foresee(memoryName: string, text: string): void {
    if (this.#options.tokens() === 0) return;
    const foreseen = this.#options.memoryOf(memoryName)?.foresee(queryOf([text]), this.#ways.get(memoryName));
    // Whoever asks is told.
    foreseen?.catch(() => undefined);
  }

  /** Never rejects: without what is remembered a turn is poorer, but it is one. */
  async of(
    { group, memoryName, session }: Place,
    messages: readonly StoredMessage[],
    at: (time: number) => string,
  ): Promise<Recollection | undefined> {
    const tokens = this.#options.tokens();
    const memory = tokens === 0 ? undefined : this.#options.memoryOf(memoryName);
    if (!memory) return undefined;
    const isOver = new AbortController();
    const late = sleep(longestMs, isOver.signal).then(() => "late" as const);
    try {
      const ids = messages.map(({ seq, copyOf = seq }) => saidId(this.#options.idOf, "message", copyOf));
      const sight = await this.#sightOf(session, messages);
      const inSight = { since: sight.since, ids };
      const sources = { memory, memoryName, global: this.#options.globalOf(group), tokens };
      const looking = this.#look(sources, queryOf(saidTo(messages)), inSight);
      const memories = await Promise.race([looking, late]);
      if (memories === "late") throw new Error(`it took longer than ${longestMs} ms`);
      this.#options.faults.worked(memoryName);
      if (memories.length === 0) return undefined;
      const unseen = sight.show(
        memories,
        messages.map(({ seq }) => seq),
      );
      // What it was shown before has a part in the turn as well.
      const origins = sortOrigins(memories.flatMap(originsOf));
      return { text: unseen.length === 0 ? "" : showMemories(unseen, at), origins };
    } catch (error) {
      if (error instanceof AppError && !error.passing) this.#options.faults.failed(memoryName, error);
      else this.#options.logger.warn({ err: toError(error), group: group.name }, "a turn begins without its memories");
      return undefined;
    } finally {
      isOver.abort();
    }
  }

  /** Global notes come first, so that the group's own words are the last ones. */
  async #look(
    { memory, memoryName, global, tokens }: Sources,
    query: string,
    inSight: AlreadyShown,
  ): Promise<ShownMemory[]> {
    const part = global ? Math.floor(tokens * globalShare) : 0;
    const how = { limit: mostFound, tokens: tokens - part };
    this.#ways.set(memoryName, { how, since: inSight.since });
    if (!global) return (await memory.recall(query, how, inSight)).map((one) => one.memory);
    const [notes, own] = await Promise.all([
      global
        .recall(query, { limit: mostGlobal, tokens: part }, { since: Infinity, ids: [] })
        .catch((error: unknown) => {
          this.#options.logger.warn({ err: toError(error) }, "a turn begins without global notes");
          return [];
        }),
      memory.recall(query, how, inSight),
    ]);
    return [...notes.map((one) => ({ ...one.memory, isGlobal: true })), ...own.map((one) => one.memory)];
  }

  /** Memories seen in a conversation that began before this process, since its first step. */
  async #sightOf({ id, conversation, windowStart }: Session, shown: readonly StoredMessage[]): Promise<ShownMemories> {
    const window = `${conversation} ${windowStart}`;
    const known = this.#seen.get(id);
    if (known?.window === window) return known.sight;
    const sight = new ShownMemories(await this.#begin({ id, conversation, windowStart }, shown));
    this.#seen.set(id, { window, sight });
    return sight;
  }

  async #begin(
    { id, conversation, windowStart }: Pick<Session, "id" | "conversation" | "windowStart">,
    shown: readonly StoredMessage[],
  ): Promise<number> {
    const [first] = await this.#options.turns.history(id, conversation, windowStart);
    return first?.at ?? Math.min(...shown.map(({ sentAt, receivedAt }) => sentAt ?? receivedAt));
  }
}

interface Sources {
  readonly memory: MemoryAt;
  readonly memoryName: string;
  readonly global: MemoryAt | undefined;
  readonly tokens: number;
}

/** The newest of what is said to the agent, as far as it can be looked up. */
function queryOf(said: readonly string[]): string {
  return said.join("\n").slice(-mostQueryChars).toWellFormed();
}

function saidTo(messages: readonly StoredMessage[]): string[] {
  return messages.filter(({ state }) => state !== "context").map(({ text }) => text);
}
