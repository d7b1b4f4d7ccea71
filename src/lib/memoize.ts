/**
 * A function that does its work once: callers share the attempt that is under way, and one that failed is made again.
 */
export function memoize<Value>(attempt: () => Promise<Value>): () => Promise<Value> {
  let current: Promise<Value> | undefined;
  return () => {
    if (current) return current;
    const begun = attempt();
    current = begun;
    begun.catch(() => (current = undefined));
    return begun;
  };
}
