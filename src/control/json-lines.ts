import { Readable } from "node:stream";

/** One JSON object per line; no more than a few are ready before somebody reads them. */
export function asLines(values: AsyncIterable<unknown>): Readable {
  async function* lines(): AsyncGenerator<string> {
    for await (const value of values) yield `${JSON.stringify(value)}\n`;
  }
  return Readable.from(lines());
}

/** Waits for the first event, so that "there is no such channel" is an answer of its own, then sends lines as they come. */
export async function firstOf(events: AsyncIterable<object>): Promise<Readable> {
  const iterator = events[Symbol.asyncIterator]();
  const first = await iterator.next();
  async function* lines(): AsyncGenerator<string> {
    for (let next = first; next.done !== true; next = await iterator.next()) yield `${JSON.stringify(next.value)}\n`;
  }
  return Readable.from(lines());
}
