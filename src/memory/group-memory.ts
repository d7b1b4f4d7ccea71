import { AppError, toError } from "../lib/app-error.ts";
import { sleep } from "../lib/time/sleep.ts";
import type { Embedder } from "./embedding/embedder.ts";
import { embedPending } from "./embedding/embed-pending.ts";
import { VectorCache } from "./embedding/vector-cache.ts";
import type { Advance, ListQuery, Progress, Said } from "./file/file-orders.ts";
import { MemoryFile } from "./file/memory-file.ts";
import { countUnextracted, saidBetween, unextracted } from "./file/said.ts";
import { LoadedIndex } from "./index/load-index.ts";
import type { Filter, Found, Memory, NewMemory } from "./item.ts";
import { checkMemory } from "./check-memory.ts";
import { searchIndex, type Query, type Weights } from "./search/hybrid.ts";
import { searchOlder } from "./search/older.ts";
import { type Recalled, recallFrom, withinBudget } from "./search/recall.ts";
import { isMostlyHan, queryTermsOf } from "./text/terms.ts";

export interface GroupMemoryOptions {
  readonly path: string;
  readonly weights: Weights;
  /** Without one, memories are found by their words. The caller disposes it. */
  readonly embedder?: Embedder | undefined;
  readonly cache?: VectorCache | undefined;
  /** How many memories are searched in memory; older ones are found by their words in the file. */
  readonly hotRows?: number | undefined;
  /** How long a search waits for the vector of its query; then it is answered by words. */
  readonly queryMs?: number | undefined;
}

const usualQueryMs = 5_000;
const forgottenAtOnce = 500;

export interface SearchOptions extends Filter {
  readonly limit: number;
  /** What the texts that are found may cost a model together. */
  readonly tokens?: number | undefined;
}

export interface RecallOptions extends SearchOptions {
  readonly tokens: number;
  /** As the model is shown it, which is what counts; otherwise as it is searched. */
  readonly textOf?: ((memory: Memory) => string) | undefined;
  /** Left out: the model sees it anyway. */
  readonly isInSight?: Filter["isHidden"];
}

export interface MemoryStats {
  readonly items: number;
  readonly superseded: number;
  /** How many can be found by their meaning. */
  readonly embedded: number;
  readonly model: string | null;
  readonly categories: Readonly<Record<string, number>>;
  /** When old memories were last removed, milliseconds since 1970; null: never yet. */
  readonly cleanedAt: number | null;
}

/** What one group remembers. Nothing here reaches the memory of another one: there is one file, and it is this group's. */
export class GroupMemory implements AsyncDisposable {
  readonly #file: MemoryFile;
  readonly #options: GroupMemoryOptions;
  readonly #cache: VectorCache;
  readonly #ended = new AbortController();
  #loaded: LoadedIndex | undefined;
  #embedding: Promise<Error | undefined> | undefined;
  #isEmbeddingAgain = false;
  /** Its vector has the time that it has from when it was foreseen. */
  #foreseen: { readonly query: string; readonly vector: Promise<Float32Array | undefined> } | undefined;

  /** Opens the group's file, which is made if it is not there yet. Throws AppError `store_failed`. */
  constructor(options: GroupMemoryOptions) {
    this.#options = options;
    this.#file = MemoryFile.open(options.path);
    this.#cache = options.cache ?? new VectorCache();
  }

  /** They can be found by their words when this returns, and by their meaning a moment later. Throws AppError `bad_input`. */
  add(memories: readonly NewMemory[]): void {
    for (const memory of memories) checkMemory(memory);
    this.#file.put(memories);
    this.embedSoon();
  }

  /** See `MemoryFile.advance`. Throws AppError `bad_input`. */
  advance(memories: readonly NewMemory[], how: Advance): void {
    for (const memory of memories) checkMemory(memory);
    this.#file.advance(memories, how);
    this.embedSoon();
  }

  progress(): Progress {
    return this.#file.progress();
  }

  /** Newest ones whose ids begin so, in order. */
  unextracted(prefix: string, limit: number): Said[] {
    return unextracted(this.#file, prefix, limit);
  }

  countUnextracted(prefix: string): number {
    return countUnextracted(this.#file, prefix);
  }

  saidBetween(from: number, to: number, limit: number): Said[] {
    return saidBetween(this.#file, from, to, limit);
  }

  /** Everything that holds words of this person, `channel:id`. Gives how much that was. */
  forgetPerson(person: string): number {
    return this.#forgetAll(() => this.#file.ofPerson(person, forgottenAtOnce));
  }

  /** One step of a cleaning: see `file/cleaning.ts`. */
  clean<T>(step: (file: MemoryFile) => T): T {
    return step(this.#file);
  }

  /** Removing has spoilt the index in memory: it is made again now, while nobody waits for it, if it was in use. */
  warm(): void {
    if (this.#loaded) this.#index();
  }

  #forgetAll(next: () => readonly string[]): number {
    for (let count = 0; ;) {
      const ids = next();
      if (ids.length === 0) return count;
      count += this.forget(ids);
    }
  }

  /** Really: gives how many there were. */
  forget(ids: readonly string[]): number {
    const count = this.#file.remove(ids);
    if (count > 0) this.#loaded = undefined;
    return count;
  }

  reset(): number {
    this.#loaded = undefined;
    return this.#file.clear();
  }

  supersede(id: string, by: string): boolean {
    this.#loaded = undefined;
    return this.#file.supersede(id, by);
  }

  get(id: string): Memory | undefined {
    return this.#file.get(id);
  }

  list(query: ListQuery): Memory[] {
    return this.#file.list(query);
  }

  all(): Generator<Memory> {
    return this.#file.all();
  }

  /** Makes the vector of a query that will be asked, so that it is there by then. */
  async foresee(query: string): Promise<void> {
    const vector = this.#embedQuery(query);
    this.#foreseen = { query, vector };
    await vector;
  }

  /** Single memories, best first. */
  async search(query: string, options: SearchOptions): Promise<Found[]> {
    const vector = await (this.#foreseen?.query === query ? this.#foreseen.vector : this.#embedQuery(query));
    this.#foreseen = undefined;
    const loaded = this.#index();
    const asked: Query = {
      terms: queryTermsOf(query),
      isHan: isMostlyHan(query),
      vector,
      isEnglishModel: this.#options.embedder?.isEnglish ?? false,
    };
    const how = { filter: options, weights: this.#options.weights, limit: options.limit };
    const hot = searchIndex(loaded.index, asked, how).map(({ slot, score }) => ({
      seq: loaded.index.seqs[slot] ?? 0,
      score,
    }));
    const older = loaded.first <= 1 ? [] : searchOlder(this.#file, loaded, { ...how, query: asked });
    const best = [...hot, ...older].toSorted((one, other) => other.score - one.score).slice(0, options.limit);
    const found = best.flatMap(({ seq, score }) => {
      const memory = this.#file.bySeq(seq);
      return memory === undefined ? [] : [{ memory, score }];
    });
    return options.tokens === undefined ? found : withinBudget(found, options.tokens);
  }

  /** The same for a model: with what was said just before and after each, in the order of time. */
  async recall(query: string, options: RecallOptions): Promise<Recalled[]> {
    const { tokens, isInSight = () => false, textOf: _textOf, limit, ...rest } = options;
    // What is in sight is much like the query, and would leave nothing else among the best.
    const found = await this.search(query, { ...rest, limit, isHidden: isInSight });
    const beside = (id: string): Memory[] => this.#file.besides(id).filter((memory) => !isInSight(memory));
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
    this.#file.dropIndexes();
    this.#loaded = undefined;
    await this.flush();
  }

  stats(): MemoryStats {
    const { embedder } = this.#options;
    return {
      ...this.#file.counts(embedder?.model),
      model: embedder?.model ?? null,
      cleanedAt: this.#file.progress().cleaned || null,
      categories: Object.fromEntries(this.#file.categories().map(({ category, items }) => [category, items])),
    };
  }

  /** Begins to embed what waits for it, such as what an earlier process has left. A failure is told by the next `flush`. */
  embedSoon(): void {
    if (this.#options.embedder === undefined || this.#ended.signal.aborted) return;
    this.#isEmbeddingAgain = true;
    this.#embedding ??= this.#embedAll(this.#options.embedder).finally(() => (this.#embedding = undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#embedding;
    this.#file[Symbol.dispose]();
  }

  async #embedAll(embedder: Embedder): Promise<Error | undefined> {
    const { signal } = this.#ended;
    try {
      // What is added meanwhile may lie behind what has been looked at.
      while (this.#isEmbeddingAgain && !signal.aborted) {
        this.#isEmbeddingAgain = false;
        const onVector = (seq: number, vector: Float32Array): void => this.#loaded?.index.setVector(seq, vector);
        await embedPending({ file: this.#file, embedder, cache: this.#cache, onVector, signal });
      }
      return undefined;
    } catch (thrown) {
      return toError(thrown);
    }
  }

  /** A model that does not work at the moment leaves the words. */
  async #embedQuery(query: string): Promise<Float32Array | undefined> {
    const { embedder } = this.#options;
    if (embedder === undefined || query.trim() === "") return undefined;
    if ((this.#index().index.vectors?.known ?? 0) === 0) return undefined;
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

  #index(): LoadedIndex {
    if (this.#loaded?.refresh() !== true) {
      const { embedder, hotRows } = this.#options;
      this.#loaded = new LoadedIndex(this.#file, embedder, hotRows);
    }
    return this.#loaded;
  }
}
