import type { Transaction } from "kysely";

import type { BudgetLimits } from "../../domain/group.ts";
import type { UsageStore } from "../store.ts";
import type { Database } from "./database.ts";
import type { Tables } from "./tables.ts";

interface Amount {
  readonly tokens: number;
  readonly nanoUsd: number;
}

/** Billionths of a dollar, as whole numbers: adding and taking away many small prices leaves no rounding behind. */
const nano = 1e9;

export class SqliteUsage implements UsageStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  reserve(request: Parameters<UsageStore["reserve"]>[0]): ReturnType<UsageStore["reserve"]> {
    return this.#database.writeSoon(async (transaction) => {
      const { ofGroup, ofAll } = await usedOn(transaction, request.day, request.group);
      const wanted = { tokens: request.tokens, nanoUsd: Math.round(request.usd * nano) };
      const refusal =
        refuse(wanted, { of: "group", used: ofGroup, limits: request.groupLimits }) ??
        refuse(wanted, { of: "total", used: ofAll, limits: request.totalLimits });
      if (refusal) return refusal;
      return { granted: true, reservation: await reserve(transaction, request, wanted) };
    });
  }

  /** The reservation goes away with its settlement, so settling twice changes nothing. */
  settle(reservation: number, actual: { tokens: number; usd: number }): Promise<void> {
    return this.#database.writeSoon(async (transaction) => {
      const reserved = await transaction
        .deleteFrom("reservations")
        .where("id", "=", reservation)
        .returningAll()
        .executeTakeFirst();
      if (!reserved) return;
      const tokens = actual.tokens - reserved.tokens;
      const nanoUsd = Math.round(actual.usd * nano) - reserved.nano_usd;
      await transaction
        .updateTable("usage_days")
        .set((set) => ({ tokens: set("tokens", "+", tokens), nano_usd: set("nano_usd", "+", nanoUsd) }))
        .where("day", "=", reserved.day)
        .where("group_name", "=", reserved.group_name)
        .execute();
    });
  }

  async ofDay(day: string): Promise<{ group: string; tokens: number; usd: number; calls: number }[]> {
    const rows = await this.#database.read((kysely) =>
      kysely.selectFrom("usage_days").selectAll().where("day", "=", day).orderBy("group_name").execute(),
    );
    return rows.map(({ group_name: group, tokens, nano_usd, calls }) => ({
      group,
      tokens,
      usd: nano_usd / nano,
      calls,
    }));
  }
}

async function reserve(
  transaction: Transaction<Tables>,
  { day, group }: { day: string; group: string },
  { tokens, nanoUsd }: Amount,
): Promise<number> {
  const amount = { day, group_name: group, tokens, nano_usd: nanoUsd };
  const { id } = await transaction.insertInto("reservations").values(amount).returning("id").executeTakeFirstOrThrow();
  await transaction
    .insertInto("usage_days")
    .values({ ...amount, calls: 1 })
    .onConflict((conflict) =>
      conflict.columns(["day", "group_name"]).doUpdateSet((set) => ({
        tokens: set("usage_days.tokens", "+", tokens),
        nano_usd: set("usage_days.nano_usd", "+", nanoUsd),
        calls: set("usage_days.calls", "+", 1),
      })),
    )
    .execute();
  return id;
}

async function usedOn(
  transaction: Transaction<Tables>,
  day: string,
  group: string,
): Promise<{ ofGroup: Amount; ofAll: Amount }> {
  const rows = await transaction
    .selectFrom("usage_days")
    .select(["group_name", "tokens", "nano_usd"])
    .where("day", "=", day)
    .execute();
  const sum = (chosen: typeof rows): Amount => ({
    tokens: chosen.reduce((total, row) => total + row.tokens, 0),
    nanoUsd: chosen.reduce((total, row) => total + row.nano_usd, 0),
  });
  return { ofGroup: sum(rows.filter((row) => row.group_name === group)), ofAll: sum(rows) };
}

function refuse(
  wanted: Amount,
  { of, used, limits }: { of: "group" | "total"; used: Amount; limits: BudgetLimits },
): { granted: false; limit: string; used: number; allowed: number } | undefined {
  const { tokensPerDay, usdPerDay } = limits;
  if (tokensPerDay !== undefined && used.tokens + wanted.tokens > tokensPerDay) {
    return { granted: false, limit: `${of} tokensPerDay`, used: used.tokens, allowed: tokensPerDay };
  }
  if (usdPerDay !== undefined && used.nanoUsd + wanted.nanoUsd > Math.round(usdPerDay * nano)) {
    return { granted: false, limit: `${of} usdPerDay`, used: used.nanoUsd / nano, allowed: usdPerDay };
  }
  return undefined;
}
