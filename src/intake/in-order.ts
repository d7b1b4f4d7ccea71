/**
 * Runs functions of the same key one after another, in the order of the calls; those of other keys do not wait for
 * them.
 */
export type InOrder = <T>(key: string, run: () => Promise<T>) => Promise<T>;

export function createInOrder(): InOrder {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, run) => {
    const before = tails.get(key) ?? Promise.resolve();
    const mine = before.then(run, run);
    tails.set(key, mine);
    try {
      return await mine;
    } finally {
      if (tails.get(key) === mine) tails.delete(key);
    }
  };
}
