import { setImmediate as nextTurnOfLoop } from "node:timers/promises";

import type { readEvents } from "../../events/read-events.ts";

type Reader = Parameters<typeof readEvents>[0];

/**
 * A store that many read from the beginning at once: a page is read in one go and takes milliseconds, so there is one of them between two looks at everything else
 * that the host has to do.
 */
export function onePageAtATime(store: Reader): Reader {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Page>(read: () => Promise<Page>): Promise<Page> => {
    const page = last.then(() => nextTurnOfLoop()).then(read);
    last = page.catch(() => undefined);
    return page;
  };
  return {
    after: (...asked) => inTurn(() => store.after(...asked)),
    before: (...asked) => inTurn(() => store.before(...asked)),
  };
}
