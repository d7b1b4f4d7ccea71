import type { WorkSlot } from "../../domain/work/work-slot.ts";

/** Tools that are done sooner cost no wait in line. */
const leaveMs = 2_000;

/** Handles a turn's slot while only its tools run: gives it up, and may end the turn after `holdMs`. */
export class ToolsWait implements Disposable {
  readonly #place: WorkSlot;
  readonly #holdMs: number;
  readonly #end: () => void;
  #leave: NodeJS.Timeout | undefined;
  #hold: NodeJS.Timeout | undefined;
  #overdue: Disposable | undefined;
  #isDisposed = false;

  /** `end`: others wait, get no place, and these tools have run for longer than all others'. */
  constructor(options: { readonly place: WorkSlot; readonly holdMs: number; readonly end: () => void }) {
    this.#place = options.place;
    this.#holdMs = options.holdMs;
    this.#end = options.end;
  }

  /** Has no effect once the turn has ended: what it was busy with may still come to an end. */
  begin(): void {
    if (this.#isDisposed) return;
    this.over();
    this.#leave = setTimeout(() => this.#place.leave(), leaveMs);
    this.#hold = setTimeout(() => (this.#overdue = this.#place.overdue(this.#end)), this.#holdMs);
  }

  over(): void {
    clearTimeout(this.#leave);
    clearTimeout(this.#hold);
    this.#overdue?.[Symbol.dispose]();
    this.#overdue = undefined;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.over();
  }
}
