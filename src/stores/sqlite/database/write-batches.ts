import type SQLite from "better-sqlite3";
import { type Kysely, sql, type Transaction } from "kysely";

import type { Tables } from "../schema/tables.ts";

export type Change<T> = (transaction: Transaction<Tables>) => Promise<T>;

interface Pending {
  readonly change: Change<unknown>;
  readonly isDurable: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Result of a change before its batch is committed. */
type Outcome = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: unknown };

/**
 * Writes changes in order, batching those requested at the same time into one transaction and sync. Each is a
 * savepoint: a failure affects no other.
 */
export class WriteBatches {
  readonly #kysely: Kysely<Tables>;
  readonly #connection: SQLite.Database;
  #pending: Pending[] = [];
  #running: Promise<void> | undefined;
  #isSynced = true;

  constructor(kysely: Kysely<Tables>, connection: SQLite.Database) {
    this.#kysely = kysely;
    this.#connection = connection;
  }

  /** Resolves when the change is committed; durable ones are on the disk then. */
  add<T>(change: Change<T>, isDurable: boolean): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#pending.push({ change, isDurable, resolve: resolve as (result: unknown) => void, reject });
    this.#running ??= this.#run();
    return promise;
  }

  /** Resolves when nothing waits to be written. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    while (this.#pending.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#pending;
      this.#pending = [];
      await this.#write(batch);
    }
    this.#running = undefined;
  }

  async #write(batch: readonly Pending[]): Promise<void> {
    try {
      const outcomes = await this.#kysely.connection().execute(async (lent) => {
        this.#sync(batch.some(({ isDurable }) => isDurable));
        return lent.transaction().execute((transaction) => this.#apply(batch, transaction));
      });
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome?.ok === true) resolve(outcome.result);
        else reject(outcome?.error);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async #apply(batch: readonly Pending[], transaction: Transaction<Tables>): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const { change } of batch) {
      if (batch.length === 1) outcomes.push({ ok: true, result: await change(transaction) });
      else outcomes.push(await this.#applyOne(change, transaction));
    }
    return outcomes;
  }

  async #applyOne(change: Change<unknown>, transaction: Transaction<Tables>): Promise<Outcome> {
    await sql`savepoint one_change`.execute(transaction);
    try {
      const result = await change(transaction);
      await sql`release one_change`.execute(transaction);
      return { ok: true, result };
    } catch (error) {
      // A full disk has rolled back everything already.
      if (!this.#connection.inTransaction) throw error;
      await sql`rollback to one_change`.execute(transaction);
      await sql`release one_change`.execute(transaction);
      return { ok: false, error };
    }
  }

  /** Whether the next commit waits for the disk. A sync covers everything that was committed before it. */
  #sync(wanted: boolean): void {
    if (this.#isSynced === wanted) return;
    this.#connection.pragma(`synchronous = ${wanted ? "FULL" : "NORMAL"}`);
    this.#isSynced = wanted;
  }
}
