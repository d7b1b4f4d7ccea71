import { LRUCache } from "lru-cache";
import type { Logger } from "pino";

import { workFolder } from "../../../domain/chats/group.ts";
import type { StoredMessage } from "../../../domain/chats/message.ts";
import { type Sourced, sourced } from "../../../domain/rights/sourced.ts";
import type { ComingTurn } from "../../../domain/turns/foreword.ts";
import type { Session } from "../../../domain/turns/session.ts";
import { AppError, toError } from "../../../lib/app-error.ts";
import { sleep } from "../../../lib/time/sleep.ts";
import type { TurnStore } from "../../../stores/contract/store.ts";
import type { HomeMemories } from "../thread/home-memories.ts";
import { originsOf } from "../item.ts";
import type { MemoryAt } from "../thread/memory-client.ts";
import { type MemoryWriterOptions, saidId } from "./memory-writer.ts";
import { showMemories, type ShownMemory } from "./show-memories.ts";
import { ShownMemories } from "./shown-memories.ts";
import type { Ahead, AlreadyShown } from "../../../processes/memory-schemas.ts";

interface RecallOptions {
  readonly store: { readonly turns: Pick<TurnStore, "history"> };
  readonly memories: HomeMemories;
  readonly idOf: MemoryWriterOptions["idOf"];
  readonly faults: MemoryWriterOptions["faults"];
  readonly logger: Logger;
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

/**
 * Looks up what a group remembers that fits what is said. What the model sees in the conversation anyway is left out.
 */
export class Recall {
  readonly #options: RecallOptions;
  /** Memories that the model sees, by session. */
  readonly #seen = new LRUCache<string, { readonly window: string; readonly sight: ShownMemories }>({ max: mostKnown });
  /** Last kind of lookup, by memory; the next turn probably wants the same. */
  readonly #ways = new LRUCache<string, Ahead>({ max: mostKnown });

  constructor(options: RecallOptions) {
    this.#options = options;
  }

  /** Looks up what fits this text, as a turn will ask for it soon. */
  foresee(folder: string, text: string): void {
    if (this.#tokens() === 0) return;
    const foreseen = this.#options.memories.at(folder).foresee(queryOf([text]), this.#ways.get(folder));
    // Whoever asks is told.
    foreseen.catch(() => undefined);
  }

  /** Never rejects: without what is remembered a turn is poorer, but it is one. */
  async of({ group, session, messages, at }: ComingTurn): Promise<Sourced | undefined> {
    const tokens = this.#tokens();
    if (tokens === 0) return undefined;
    const { memories: home, idOf, faults, logger } = this.#options;
    // Each of several agents has its own memory, as it has a folder.
    const folder = workFolder(group);
    const isOver = new AbortController();
    const late = sleep(longestMs, isOver.signal).then(() => "late" as const);
    try {
      const ids = messages.map(({ seq, copyOf = seq }) => saidId(idOf, "message", copyOf));
      const sight = await this.#sightOf(session, messages);
      const inSight = { since: sight.since, ids };
      const sources = { folder, global: home.globalFor(group), tokens };
      const looking = this.#look(sources, queryOf(saidTo(messages)), inSight);
      const memories = await Promise.race([looking, late]);
      if (memories === "late") throw new Error(`it took longer than ${longestMs} ms`);
      faults.worked(folder);
      if (memories.length === 0) return undefined;
      const unseen = sight.show(
        memories,
        messages.map(({ seq }) => seq),
      );
      // What it was shown before has a part in the turn as well.
      return sourced(unseen.length === 0 ? "" : showMemories(unseen, at), memories.flatMap(originsOf));
    } catch (error) {
      if (error instanceof AppError && !error.passing) faults.failed(folder, error);
      else logger.warn({ err: toError(error), group: group.name }, "a turn begins without its memories");
      return undefined;
    } finally {
      isOver.abort();
    }
  }

  /** Global notes come first, so that the group's own words are the last ones. */
  async #look(
    { folder, global, tokens }: Sources,
    query: string,
    inSight: AlreadyShown,
  ): Promise<readonly ShownMemory[]> {
    const memory = this.#options.memories.at(folder);
    const part = global ? Math.floor(tokens * globalShare) : 0;
    const how = { limit: mostFound, tokens: tokens - part };
    this.#ways.set(folder, { how, since: inSight.since });
    if (!global) return memory.recall(query, how, inSight);
    const [notes, own] = await Promise.all([
      global
        .recall(query, { limit: mostGlobal, tokens: part }, { since: Infinity, ids: [] })
        .catch((error: unknown) => {
          this.#options.logger.warn({ err: toError(error) }, "a turn begins without global notes");
          return [];
        }),
      memory.recall(query, how, inSight),
    ]);
    return [...notes.map((one) => ({ ...one, isGlobal: true })), ...own];
  }

  /** Maximum tokens of a turn's memories; 0: none. */
  #tokens(): number {
    const { enabled, recallTokens } = this.#options.memories.settings();
    return enabled ? recallTokens : 0;
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
    const [first] = await this.#options.store.turns.history(id, conversation, windowStart);
    return first?.at ?? Math.min(...shown.map(({ sentAt, receivedAt }) => sentAt ?? receivedAt));
  }
}

interface Sources {
  readonly folder: string;
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
