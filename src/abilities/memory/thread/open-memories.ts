import type * as z from "zod";

import type { memoryThread } from "../../../processes/protocol.ts";
import { countUnextracted, saidBetween, unextracted } from "../file/said.ts";
import { checkIndex, cleanSome, endCleaning, noteAnnounced, planCleaning } from "../file/cleaning.ts";
import { IdleGate } from "../../../lib/time/idle-gate.ts";
import { GroupMemory, type GroupMemoryOptions, type RecallOptions } from "../group-memory.ts";
import { ownIds } from "../item.ts";
import { showMemory } from "../keeping/show-memories.ts";
import type { AlreadyShown, Memory, ReaderStanding, RecallLimits } from "../../../processes/memory-schemas.ts";

type Calls = typeof memoryThread.process.calls;
type Result<Name extends keyof Calls> = z.input<Calls[Name]["output"]>;

/** Carries out the calls of the memory thread for the memory in one group's file. */
type MemoryCalls = {
  readonly [Name in keyof Calls]: (
    ...parameters: z.output<Calls[Name]["input"]>["parameters"]
  ) => Result<Name> | Promise<Result<Name>>;
};

const ownPrefixes = Object.values(ownIds);

/**
 * Groups whose memory is open at once, and what their indexes may hold together; the one that was not used for longest
 * is closed, but for the last few.
 */
const mostOpen = 64;
const mostRows = 262_144;
const leastOpen = 4;
/** Number of messages above which stored ones are not looked up first. */
const mostLookedFor = 16;
/** A query is answered by words when its vector takes longer. */
const queryMs = 100;
/** Time after which a search falls back to the file by words, without the index. */
const indexMs = 250;
/**
 * A turn and the model for memories would share the processors: what was said gets its vectors when no turn has asked
 * for so long.
 */
const lullOptions = { quietMs: 1_000, longestMs: 60_000 };

/** The memories of groups, opened when they are first asked for. */
export class OpenMemories implements AsyncDisposable {
  readonly #options: Omit<GroupMemoryOptions, "path">;
  /** By path; the one used last is the last one. */
  readonly #open = new Map<string, Opened>();

  constructor(options: Omit<GroupMemoryOptions, "path" | "queryMs" | "indexMs" | "lull">) {
    this.#options = { ...options, queryMs, indexMs, lull: new IdleGate(lullOptions) };
  }

  async use<T>(path: string, work: (memory: MemoryCalls) => T): Promise<Awaited<T>> {
    const opened = this.#open.get(path) ?? { memory: new GroupMemory({ ...this.#options, path }), users: 0 };
    this.#open.delete(path);
    this.#open.set(path, opened);
    opened.users += 1;
    try {
      return await work(callsFor(opened.memory));
    } finally {
      opened.users -= 1;
      await this.#closeSome();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { memory } of this.#open.values()) await memory[Symbol.asyncDispose]();
  }

  async #closeSome(): Promise<void> {
    let rows = this.#open.values().reduce((sum, { memory }) => sum + memory.rows, 0);
    for (const [path, { memory, users }] of this.#open) {
      if (this.#open.size <= leastOpen || (this.#open.size <= mostOpen && rows <= mostRows)) return;
      if (users > 0) continue;
      rows -= memory.rows;
      this.#open.delete(path);
      await memory[Symbol.asyncDispose]();
    }
  }
}

interface Opened {
  readonly memory: GroupMemory;
  users: number;
}

function callsFor(memory: GroupMemory): MemoryCalls {
  return {
    standing: () => standingOf(memory),
    advance: (memories, how) => {
      memory.add(memories, how);
      return standingOf(memory);
    },
    unextracted: (limit) => unextracted(memory.file, ownIds.said, limit),
    foresee: (query, ahead) => memory.foresee(query, ahead && toRecall(ahead.how, { since: ahead.since, ids: [] })),
    saidBetween: (from, to, limit) => saidBetween(memory.file, from, to, limit),
    search: (query, options) => memory.search(query, options),
    recall: async (query, options, { since, ids }) => {
      // What is missing need not be left out; what a turn answers rarely is.
      const isAny = ids.length > mostLookedFor || ids.some((id) => memory.get(id) !== undefined);
      const recalled = await memory.recall(query, toRecall(options, { since, ids: isAny ? ids : [] }));
      return recalled.map(({ memory: { sources: _sources, supersededBy: _by, ...shown } }) => shown);
    },
    get: (id) => memory.get(id),
    list: (query) => memory.list(query),
    forget: (ids) => memory.forget(ids),
    planCleaning: (now, cutoffs) => memory.clean((file) => planCleaning(file, now, cutoffs)),
    noteAnnounced: () => memory.clean(noteAnnounced),
    cleanSome: (cutoffs) => memory.clean((file) => cleanSome(file, cutoffs)),
    checkIndex: (after) => memory.clean((file) => checkIndex(file, after)),
    endCleaning: async (now) => {
      memory.clean((file) => endCleaning(file, now));
      await memory.warm();
    },
  };
}

/** Two that are named alike find the same. */
function toRecall(how: RecallLimits, inSight: AlreadyShown): RecallOptions {
  return { ...how, name: JSON.stringify([how, inSight]), textOf, isInSight: inSightBy(inSight) };
}

function standingOf(memory: GroupMemory): ReaderStanding {
  return { ...memory.file.progress(), unextracted: countUnextracted(memory.file, ownIds.said) };
}

/** Text of a memory in a prompt, independent of the time zone. */
function textOf(memory: Memory): string {
  return showMemory(memory, (time) => new Date(time).toISOString().slice(0, 16));
}

function inSightBy({ since, ids }: AlreadyShown): (memory: Pick<Memory, "id" | "time">) => boolean {
  const shown = new Set(ids);
  return ({ id, time }) => shown.has(id) || (time >= since && ownPrefixes.some((prefix) => id.startsWith(prefix)));
}
