import { PendingWork } from "../../lib/pending-work.ts";
import { CircuitBreakers } from "./breaker.ts";
import { TokenCalibration } from "../costs/calibration.ts";
import type { ProviderSettings } from "../define-provider.ts";
import type { Provider } from "../provider.ts";

/** Configuration of the providers. */
export interface ProvidersConfig {
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly timeoutSeconds: number;
}

/** Providers that stay open at least until this is disposed. */
export interface HeldProviders extends Disposable {
  readonly byName: ReadonlyMap<string, Provider>;
}

interface Entry {
  readonly settings: string;
  readonly provider: Provider;
  holders: number;
}

export interface ProviderSetOptions {
  readonly open: (name: string, settings: ProviderSettings, silenceMs: number) => Provider;
  readonly onFault: (error: unknown) => void;
  /** Milliseconds, never back. */
  readonly now: () => number;
}

/**
 * Providers of the current configuration. One with changed settings is reopened under its name; the old one ends when
 * nobody holds it.
 */
export class ProviderSet implements AsyncDisposable {
  readonly #options: ProviderSetOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #retired = new Set<Entry>();
  readonly #ending: PendingWork;
  /** Health of the providers, by name. */
  readonly breakers: CircuitBreakers;
  /** Learned token factors of their models. */
  readonly calibration = new TokenCalibration();

  constructor(options: ProviderSetOptions, config: ProvidersConfig) {
    this.#options = options;
    this.#ending = new PendingWork(options.onFault);
    this.breakers = new CircuitBreakers(options.now);
    this.configure(config);
  }

  configure({ providers, timeoutSeconds }: ProvidersConfig): void {
    for (const [name, entry] of this.#entries) {
      const wanted = providers[name];
      if (wanted && keyOf(wanted, timeoutSeconds) === entry.settings) continue;
      this.#entries.delete(name);
      this.breakers.forget(name);
      this.#retired.add(entry);
      this.#endUnused(entry);
    }
    for (const [name, settings] of Object.entries(providers)) {
      if (this.#entries.has(name)) continue;
      const provider = this.#options.open(name, settings, timeoutSeconds * 1000);
      this.#entries.set(name, { settings: keyOf(settings, timeoutSeconds), provider, holders: 0 });
    }
  }

  /** Holds the current providers. */
  hold(): HeldProviders {
    const held = [...this.#entries];
    for (const [, entry] of held) entry.holders += 1;
    return {
      byName: new Map(held.map(([name, { provider }]) => [name, provider])),
      [Symbol.dispose]: () => {
        for (const [, entry] of held.splice(0)) {
          entry.holders -= 1;
          this.#endUnused(entry);
        }
      },
    };
  }

  /** Ends all of them, held or not. */
  async [Symbol.asyncDispose](): Promise<void> {
    const open = [...this.#entries.values(), ...this.#retired];
    await Promise.all([this.#ending.done(), ...open.map(({ provider }) => provider[Symbol.asyncDispose]())]);
  }

  #endUnused(entry: Entry): void {
    if (entry.holders > 0 || !this.#retired.delete(entry)) return;
    this.#ending.add(Promise.resolve(entry.provider[Symbol.asyncDispose]()));
  }
}

function keyOf(settings: ProviderSettings, timeoutSeconds: number): string {
  return JSON.stringify([settings, timeoutSeconds]);
}
