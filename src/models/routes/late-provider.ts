import { memoize } from "../../lib/memoize.ts";
import type { Provider } from "../provider.ts";

/**
 * Delay after the start until a vendor's code is loaded without a request, so that the first message need not wait for
 * it.
 */
const loadAfterMs = 1_000;

/**
 * A provider whose code, with its vendor's SDK, is not loaded while the host starts: that would be a fifth of the
 * start.
 */
export class LateProvider implements Provider {
  readonly name: string;
  readonly #load: () => Promise<Provider>;
  readonly #preload: NodeJS.Timeout;
  #loading: Promise<Provider> | undefined;

  constructor(name: string, load: () => Promise<Provider>) {
    this.name = name;
    this.#load = memoize(() => (this.#loading = load()));
    this.#preload = setTimeout(() => void this.#load().catch(() => undefined), loadAfterMs).unref();
  }

  async complete(...call: Parameters<Provider["complete"]>): ReturnType<Provider["complete"]> {
    return (await this.#load()).complete(...call);
  }

  async check(signal: AbortSignal): ReturnType<Provider["check"]> {
    return (await this.#load()).check(signal);
  }

  /** Ends what was loaded. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#preload);
    const loaded = await this.#loading?.catch(() => undefined);
    await loaded?.[Symbol.asyncDispose]();
  }
}
