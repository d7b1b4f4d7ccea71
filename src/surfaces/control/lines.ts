import { Readable } from "node:stream";

import type { LoginEvent } from "../../channels/channel.ts";

/** No more than a few are ready before somebody reads them. */
export function asLines(values: AsyncIterable<unknown>): Readable {
  async function* lines(): AsyncGenerator<string> {
    for await (const value of values) yield `${JSON.stringify(value)}\n`;
  }
  return Readable.from(lines());
}

/** Waits for the first event, so that "there is no such channel" is an answer of its own, then sends lines as they come. */
export async function firstOf(events: AsyncIterable<LoginEvent>): Promise<Readable> {
  const iterator = events[Symbol.asyncIterator]();
  const first = await iterator.next();
  async function* lines(): AsyncGenerator<string> {
    for (let next = first; next.done !== true; next = await iterator.next()) yield `${JSON.stringify(next.value)}\n`;
  }
  return Readable.from(lines());
}

/** Marks what is no event. */
export async function* asDeltas(deltas: AsyncIterable<unknown>): AsyncGenerator<{ readonly delta: unknown }> {
  for await (const delta of deltas) yield { delta };
}

/** What comes from several places, as it comes; one value of each waits at most. */
export async function* together(sources: readonly AsyncIterable<unknown>[]): AsyncGenerator {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const pending = new Map(iterators.map((iterator) => [iterator, iterator.next()]));
  try {
    while (pending.size > 0) {
      const nexts = [...pending].map(async ([iterator, next]) => ({ iterator, next: await next }));
      const { iterator, next } = await Promise.race(nexts);
      if (next.done === true) pending.delete(iterator);
      else {
        pending.set(iterator, iterator.next());
        yield next.value;
      }
    }
  } finally {
    for (const iterator of iterators) void iterator.return?.();
  }
}
