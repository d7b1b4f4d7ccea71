import type { Logger } from "pino";

import type { Clock } from "../../../lib/time/clock.ts";
import type { KnownIds, SamePerson } from "../../define-channel.ts";
import { numberOfPerson } from "../person-id.ts";

export interface NumbersOptions {
  readonly ids: KnownIds;
  /** Asks WhatsApp which LIDs these phone numbers have; numbers without one are left out. */
  readonly lookUp: (pns: readonly string[]) => Promise<readonly LidOfNumber[]>;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** The LID of a phone number, both as ids. */
export interface LidOfNumber {
  readonly pn: string;
  readonly lid: string;
}

/** A message waits no longer for it. */
const patienceMs = 5_000;
const retryMs = 60_000;
/** Time after which a number without a LID is asked about again. */
const noneMs = 3_600_000;
/** Maximum numbers per request, and of remembered answers. */
const mostAtOnce = 100;
const mostAnswers = 10_000;

/**
 * Finds the LIDs of configured phone numbers, so that settings for a number apply to messages by LID. WhatsApp
 * translates numbers to LIDs, but not back. Costs nothing without configured numbers.
 */
export class Numbers {
  readonly #options: NumbersOptions;
  /** When to ask for a number again. */
  readonly #again = new Map<string, number>();
  #asking: Promise<void> | undefined;

  constructor(options: NumbersOptions) {
    this.#options = options;
  }

  /** Resolves when the ids of `sender` are known, as far as possible soon. Rejects only when they cannot be stored. */
  async settle(sender?: string): Promise<void> {
    while (this.#asking) await this.#asking.catch(() => undefined);
    const wanted = this.#wanted(sender);
    if (wanted.length === 0) return;
    this.#asking = this.#ask(wanted);
    try {
      await this.#asking;
    } finally {
      this.#asking = undefined;
    }
  }

  #wanted(sender: string | undefined): string[] {
    const open = this.#options.ids.open();
    if (open.length === 0) return [];
    const numbers = open.filter((id) => numberOfPerson(id) !== undefined);
    // Who is named by a LID may write by number.
    const isLidNamed = numbers.length < open.length;
    if (isLidNamed && sender !== undefined && numberOfPerson(sender) !== undefined) numbers.unshift(sender);
    const now = this.#options.clock.now();
    return [...new Set(numbers)].filter((pn) => now >= (this.#again.get(pn) ?? 0)).slice(0, mostAtOnce);
  }

  async #ask(pns: readonly string[]): Promise<void> {
    const { ids, logger } = this.#options;
    const found = await this.#answer(pns);
    if (!found) {
      this.#remember(pns, retryMs);
      const numbers = pns.flatMap((pn) => numberOfPerson(pn) ?? []);
      logger.warn(
        { numbers },
        "WhatsApp does not say which LIDs these numbers have: what is configured for them may not hold yet",
      );
      return;
    }
    await ids.same(found.map(({ pn, lid }) => ({ id: lid, alias: pn })));
    const known = new Set(found.map(({ pn }) => pn));
    const none = pns.filter((pn) => !known.has(pn));
    this.#remember(none, noneMs);
    ids.none(none);
  }

  /** Undefined when there was none in time. */
  async #answer(pns: readonly string[]): Promise<readonly LidOfNumber[] | undefined> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<undefined>();
    const patience = setTimeout(() => giveUp(undefined), patienceMs);
    try {
      return await Promise.race([this.#options.lookUp(pns).catch(() => undefined), late]);
    } finally {
      clearTimeout(patience);
    }
  }

  #remember(pns: readonly string[], forMs: number): void {
    for (const pn of pns) this.#again.set(pn, this.#options.clock.now() + forMs);
    for (const pn of [...this.#again.keys()].slice(0, Math.max(0, this.#again.size - mostAnswers)))
      this.#again.delete(pn);
  }
}

const mapping = /^lid-mapping\/([1-9]\d*)$/;

/** Finds pairs of number and LID among the library's stored values. */
export function pairsAmong(changes: ReadonlyMap<string, Uint8Array | null>): SamePerson[] {
  return [...changes].flatMap(([key, value]) => {
    const [, pn] = mapping.exec(key) ?? [];
    const [, lid] = value && pn !== undefined ? (/^"(\d+)"$/.exec(Buffer.from(value).toString("utf8")) ?? []) : [];
    return pn === undefined || lid === undefined ? [] : [{ id: `${lid}@lid`, alias: `${pn}@s.whatsapp.net` }];
  });
}
