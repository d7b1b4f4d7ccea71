import { AppError, toError } from "../../lib/app-error.ts";
import type { IdleGate } from "../../lib/time/idle-gate.ts";
import { sleep } from "../../lib/time/sleep.ts";
import type { Embedder } from "./embedding/embedder.ts";
import { embedPending } from "./embedding/embed-pending.ts";
import { VectorCache } from "./embedding/vector-cache.ts";
import { MemoryFile } from "./file/memory-file.ts";
import type { LoadedIndex } from "./index/load-index.ts";
import { VectorChoice } from "./index/vectors/open-vectors.ts";
import type { VectorStrategy } from "./index/vectors/vectors.ts";
import { WarmIndex } from "./index/warm-index.ts";
import { checkMemory } from "./file/check-memory.ts";
import { type Filter, type Query, type Weights, wordScores } from "./search/hybrid.ts";
import { type Recalled, recallFrom, withinBudget } from "./search/with-neighbours.ts";
import { searchRows, searchRowsByWords } from "./search/search-rows.ts";
import { isMostlyHan, queryTermsOf } from "./text/terms.ts";
import type {
  Advance,
  Found,
  ListQuery,
  Memory,
  NewMemory,
  RecallLimits,
  SearchOptions,
  SlowVectors,
} from "../../processes/memory-schemas.ts";

export interface GroupMemoryOptions {
  readonly path: string;
  readonly weights: Weights;
  /** Embedder; without one, search works by words only. The caller disposes it. */
  readonly embedder?: Embedder | undefined;
  readonly cache?: VectorCache | undefined;
  /** Number of newest memories searched in memory; older ones by words in the file. */
  readonly hotRows?: number | undefined;
  /** Time that a search waits for the query's vector; afterwards it works by words. */
  readonly queryMs?: number | undefined;
  /** Time that a search waits for a large memory's index; afterwards it searches the file by words. */
  readonly indexMs?: number | undefined;
  /** Ways of comparing vectors, best first; those of this machine by default. */
  readonly strategies?: readonly VectorStrategy[] | undefined;
  /** Called when vectors are compared more slowly than possible. */
  readonly onSlow?: ((slow: SlowVectors) => void) | undefined;
  /**
   * Idle gate: vectors of memories are made while it is idle; queries keep it busy. Without it, they are made
   * immediately.
   */
  readonly lull?: IdleGate | undefined;
}

const usualQueryMs = 5_000;
const usualIndexMs = 600_000;

/** Limits of a recall, and what its model sees anyway. */
export interface RecallOptions extends RecallLimits {
  /** Text as shown to the model, for counting; the searched text by default. */
  readonly textOf?: ((memory: Memory) => string) | undefined;
  /** True for memories that the model sees anyway; these are left out. */
  readonly isInSight?: Filter["isHidden"];
  /** Name under which a prepared query is used. */
  readonly name?: string | undefined;
}

type Vector = Promise<Float32Array | undefined>;
type Searching = SearchOptions & Pick<Filter, "isHidden">;

/** A prepared query, as far as looked up. */
interface Foreseen {
  readonly query: string;
  readonly vector: Vector;
  readonly name: string | undefined;
  readonly recalled: Promise<{ readonly state: string; readonly found: Recalled[] }> | undefined;
}

interface Prepared {
  readonly changes: number;
  readonly whole: LoadedIndex | undefined;
  readonly words: Float64Array | undefined;
}

export interface MemoryStats {
  readonly items: number;
  readonly superseded: number;
  /** Number of memories that can be found by meaning. */
  readonly embedded: number;
  readonly model: string | null;
  readonly categories: Readonly<Record<string, number>>;
  /** When old memories were last removed, milliseconds since 1970; null: never yet. */
  readonly cleanedAt: number | null;
}

/** The memory of one group. Nothing here reaches another group's memory: there is one file, this group's. */
export class GroupMemory implements AsyncDisposable {
  readonly file: MemoryFile;
  readonly #options: GroupMemoryOptions;
  readonly #cache: VectorCache;
  readonly #ended = new AbortController();
  readonly #index: WarmIndex;
  #embedding: Promise<Error | undefined> | undefined;
  #isEmbeddingAgain = false;
  /** Its vector has the time that it has from when it was foreseen. */
  #foreseen: Foreseen | undefined;
  /** Goes up with each change by this process that may have another answer come out. */
  #changes = 0;

  /** Opens the group's file, creating it if missing. Throws AppError `store_failed`. */
  constructor(options: GroupMemoryOptions) {
    this.#options = options;
    this.file = MemoryFile.open(options.path);
    this.#cache = options.cache ?? new VectorCache();
    const { embedder: model, hotRows: rows, strategies, onSlow } = options;
    const choice = new VectorChoice(onSlow, strategies);
    this.#index = new WarmIndex({ file: this.file, model, rows, choice, signal: this.#ended.signal });
  }

  /**
   * Adds memories, which can be found by their words when this returns, and by their meaning a moment later; see
   * `MemoryFile.advance`. Throws AppError `bad_input`.
   */
  add(memories: readonly NewMemory[], how: Advance = { progress: {} }): void {
    for (const memory of memories) checkMemory(memory);
    if (memories.length > 0 || how.supersedes !== undefined) this.#changes += 1;
    this.file.advance(memories, how);
    this.embedSoon();
  }

  /** One step of a cleaning: see `file/cleaning.ts`. */
  clean<T>(step: (file: MemoryFile) => T): T {
    this.#changes += 1;
    return step(this.file);
  }

  /** Number of memories held in memory. */
  get rows(): number {
    return this.#index.loaded?.index.size ?? 0;
  }

  /** Rebuilds the index in memory after removals, if it was in use, while nobody waits for it. */
  async warm(): Promise<void> {
    if (this.#index.loaded) await this.#index.warm();
  }

  /** Really: gives how many there were. */
  forget(ids: readonly string[]): number {
    this.#changes += 1;
    const count = this.file.remove(ids);
    if (count > 0) this.#index.drop();
    return count;
  }

  reset(): number {
    this.#changes += 1;
    this.#index.drop();
    return this.file.clear();
  }

  supersede(id: string, by: string): boolean {
    this.#changes += 1;
    this.#index.drop();
    return this.file.supersede(id, by);
  }

  get(id: string): Memory | undefined {
    return this.file.get(id);
  }

  list(query: ListQuery): Memory[] {
    return this.file.list(query);
  }

  all(): Generator<Memory> {
    return this.file.all();
  }

  /** Prepares a query: makes its vector and, if `how` is known, looks up the result. */
  async foresee(query: string, how?: RecallOptions): Promise<void> {
    const vector = this.#embedQuery(query);
    const recalled = how && this.#lookUp(query, how, vector);
    this.#foreseen = { query, vector, name: how?.name, recalled };
    await (recalled ?? vector);
  }

  async #lookUp(query: string, how: RecallOptions, vector: Vector): Promise<{ state: string; found: Recalled[] }> {
    const state = this.#state();
    return { state, found: await this.#recall(query, how, vector) };
  }

  /** Version of the memory: equal versions give equal results. */
  #state(): string {
    return `${this.#changes} ${this.file.erasures()} ${this.file.version()}`;
  }

  /** Single memories, best first. */
  async search(query: string, options: SearchOptions): Promise<Found[]> {
    return this.#search(query, options, this.#takeForeseen(query)?.vector);
  }

  #takeForeseen(query: string): Foreseen | undefined {
    const foreseen = this.#foreseen?.query === query ? this.#foreseen : undefined;
    this.#foreseen = undefined;
    return foreseen;
  }

  async #search(query: string, options: Searching, foreseen: Vector | undefined): Promise<Found[]> {
    const terms = queryTermsOf(query);
    const coming = foreseen ?? this.#embedQuery(query);
    const [vector, early] = await Promise.all([coming, this.#prepare(terms)]);
    const { whole, words } = early.changes === this.#changes ? early : await this.#prepare(terms);
    const products = vector && (await whole?.index.vectors?.products(vector));
    const asked: Query = {
      terms,
      words,
      isHan: isMostlyHan(query),
      meaning: products && { vector, products },
      isEnglishModel: this.#options.embedder?.isEnglish ?? false,
    };
    const how = { query: asked, filter: options, weights: this.#options.weights, limit: options.limit };
    const best = whole ? searchRows(this.file, whole, how) : searchRowsByWords(this.file, this.#index.partial(), how);
    const found = best.flatMap(({ seq, score }) => {
      const memory = this.file.bySeq(seq);
      return memory === undefined ? [] : [{ memory, score }];
    });
    return options.tokens === undefined ? found : withinBudget(found, options.tokens);
  }

  /** Prepares a search while the vector of its query is being made. Valid until something changes. */
  async #prepare(terms: readonly string[]): Promise<Prepared> {
    const changes = this.#changes;
    const whole = await this.#index.whole(this.#options.indexMs ?? usualIndexMs);
    return { changes, whole, words: whole && wordScores(whole.index, terms) };
  }

  /** The same for a model: with what was said just before and after each, in the order of time. */
  async recall(query: string, options: RecallOptions): Promise<Recalled[]> {
    const foreseen = this.#takeForeseen(query);
    if (options.name !== undefined && foreseen?.name === options.name) {
      const recalled = await foreseen.recalled;
      if (recalled?.state === this.#state()) return recalled.found;
    }
    return this.#recall(query, options, foreseen?.vector);
  }

  async #recall(query: string, options: RecallOptions, foreseen: Vector | undefined): Promise<Recalled[]> {
    const { tokens, isInSight = () => false, textOf: _textOf, name: _name, limit, ...rest } = options;
    // What is in sight is much like the query, and would leave nothing else among the best.
    const found = await this.#search(query, { ...rest, limit, isHidden: isInSight }, foreseen);
    const beside = (id: string): Memory[] => this.file.besides(id).filter((memory) => !isInSight(memory));
    return recallFrom(found, beside, tokens, options.textOf);
  }

  /** All that can have a vector has one when this resolves. Rejects where the model does not work. */
  async flush(): Promise<void> {
    this.embedSoon();
    const error = await this.#embedding;
    if (error !== undefined) throw error;
  }

  /** Makes all vectors, and the index of words, anew. */
  async reindex(): Promise<void> {
    this.#changes += 1;
    this.file.dropIndexes();
    this.#index.drop();
    await this.flush();
  }

  stats(): MemoryStats {
    const { embedder } = this.#options;
    return {
      ...this.file.counts(embedder?.model),
      model: embedder?.model ?? null,
      cleanedAt: this.file.progress().cleaned || null,
      categories: Object.fromEntries(this.file.categories().map(({ category, items }) => [category, items])),
    };
  }

  /**
   * Begins to embed what waits for it, such as what an earlier process has left. A failure is told by the next `flush`.
   */
  embedSoon(): void {
    if (this.#options.embedder === undefined || this.#ended.signal.aborted) return;
    this.#isEmbeddingAgain = true;
    this.#embedding ??= this.#embedAll(this.#options.embedder).finally(() => (this.#embedding = undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#embedding;
    await this.#index[Symbol.asyncDispose]();
    this.file[Symbol.dispose]();
  }

  async #embedAll(embedder: Embedder): Promise<Error | undefined> {
    const { signal } = this.#ended;
    try {
      // What is added meanwhile may lie behind what has been looked at.
      while (this.#isEmbeddingAgain && !signal.aborted) {
        await this.#options.lull?.begin(signal);
        this.#isEmbeddingAgain = false;
        const onVector = (seq: number, vector: Float32Array): void => {
          this.#changes += 1;
          this.#index.loaded?.index.setVector(seq, vector);
        };
        await embedPending({ file: this.file, embedder, cache: this.#cache, onVector, signal });
      }
      return undefined;
    } catch (thrown) {
      return toError(thrown);
    }
  }

  /** A model that does not work at the moment leaves the words. */
  async #embedQuery(query: string): Promise<Float32Array | undefined> {
    this.#options.lull?.stir();
    const { embedder } = this.#options;
    if (embedder === undefined || query.trim() === "") return undefined;
    if (!hasVectors(this.#index) && this.#index.catchUp() && !hasVectors(this.#index)) return undefined;
    const isAnswered = new AbortController();
    const late = sleep(this.#options.queryMs ?? usualQueryMs, isAnswered.signal);
    try {
      const embedding = this.#cache.embed(embedder, [query], this.#ended.signal);
      return await Promise.race([embedding.then(([vector]) => vector), late.then(() => undefined)]);
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    } finally {
      isAnswered.abort();
    }
  }
}

function hasVectors({ loaded }: WarmIndex): boolean {
  return (loaded?.index.vectors?.known ?? 0) > 0;
}
