import type { Delta, MissedDeltas } from "../../../domain/chats/delta.ts";

/** Limits of waiting deltas for one reader: their number, and their characters. */
const bounds = { count: 256, chars: 64 * 1024 };

/**
 * Deltas that wait for a reader. Pieces of one text become one while they wait; what does not fit is dropped, and where
 * that was is noted.
 */
export class DeltaQueue {
  #waiting: (Delta | MissedDeltas)[] = [];
  #chars = 0;
  #wake: (() => void) | undefined;

  add(delta: Delta): void {
    const chars = "text" in delta ? delta.text.length : 0;
    const last = this.#waiting.at(-1);
    if (this.#chars + chars > bounds.chars || this.#waiting.length >= bounds.count) {
      // Ends count more than what comes before them, and one for each turn is not many.
      if (last?.type !== "missed") this.#waiting.push({ type: "missed" });
      if (delta.type === "over" && this.#waiting.length < 2 * bounds.count) this.#waiting.push(delta);
    } else {
      this.#chars += chars;
      const joined = last && joinDeltas(last, delta);
      if (joined) this.#waiting[this.#waiting.length - 1] = joined;
      else this.#waiting.push(delta);
    }
    this.#wake?.();
  }

  /** All that wait. */
  take(): readonly (Delta | MissedDeltas)[] {
    const taken = this.#waiting;
    this.#waiting = [];
    this.#chars = 0;
    return taken;
  }

  /** Resolves when some wait, or at the signal. */
  async more(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length > 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#wake = undefined;
  }
}

/** Two pieces of the same text as one. */
function joinDeltas(one: Delta | MissedDeltas, other: Delta): Delta | undefined {
  if (one.type === "missed" || one.turn !== other.turn) return undefined;
  if (one.type === "answer" && other.type === "answer") return { ...one, text: one.text + other.text };
  const isSameOutput = one.type === "output" && other.type === "output" && one.call === other.call;
  return isSameOutput ? { ...one, text: one.text + other.text } : undefined;
}
