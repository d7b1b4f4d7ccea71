import PQueue from "p-queue";

import type { Resolve } from "./pinned-address.ts";

/**
 * Asks for one name at a time, and once for all who want the same name. The system's resolver keeps a thread of the process
 * while it waits, of which there are two for everything that has a name, the models' servers included: groups that are
 * allowed slow names must not take both.
 */
export function orderlyResolver(ask: Resolve): Resolve {
  const queue = new PQueue({ concurrency: 1 });
  const asked = new Map<string, Promise<readonly string[]>>();
  return (host) => {
    const waiting = asked.get(host);
    if (waiting) return waiting;
    const answer = queue.add(() => ask(host)).finally(() => asked.delete(host));
    asked.set(host, answer);
    return answer;
  };
}
