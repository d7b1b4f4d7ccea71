/** Values of several sources as they come; one of each waits at most. */
export async function* together<Value>(sources: readonly AsyncIterable<Value>[]): AsyncGenerator<Value> {
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
