import { setImmediate as nextTurnOfLoop } from "node:timers/promises";

/**
 * For work that many wait for at once and that cannot be cut further, such as a page of events for each of them:
 * between two such pieces of work the host looks at everything else that it has to do.
 */
export class LoopLane {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Resolves when it is the caller's turn: what it does without waiting is all that is done in that turn of the event
   * loop.
   */
  async enter(): Promise<void> {
    const entered = this.#last.then(() => nextTurnOfLoop());
    this.#last = entered;
    await entered;
  }
}
