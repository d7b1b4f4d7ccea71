import { rememberSuccess } from "../lib/remember-success.ts";
import type { Provider } from "./provider.ts";

/** After a start, until a vendor's code is loaded though nobody has asked for it yet: the first message should not wait for it. */
const loadAfterMs = 1_000;

/** A provider whose code, with its vendor's SDK, is not loaded while the host starts: that would be a fifth of the start. */
export class LateProvider implements Provider {
  readonly name: string;
  readonly #load: () => Promise<Provider>;

  constructor(name: string, load: () => Promise<Provider>) {
    this.name = name;
    this.#load = rememberSuccess(load);
    setTimeout(() => void this.#load().catch(() => undefined), loadAfterMs).unref();
  }

  async complete(...call: Parameters<Provider["complete"]>): ReturnType<Provider["complete"]> {
    return (await this.#load()).complete(...call);
  }

  async check(signal: AbortSignal): ReturnType<Provider["check"]> {
    return (await this.#load()).check(signal);
  }
}
