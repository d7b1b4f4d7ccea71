import { type RawBuilder, sql, type Transaction } from "kysely";

import type { BudgetLimits } from "../../../domain/chats/group.ts";
import type { CallUsage, DayUse, UsageBy, UsageSum } from "../../../domain/turns/usage.ts";
import type { UsageStore } from "../../contract/usage-store.ts";
import { onDatabase } from "../database/on-database.ts";
import type { Tables } from "../schema/tables.ts";
import { statement, written } from "../database/statement.ts";

interface Amount {
  readonly tokens: number;
  readonly nanoUsd: number;
}

/** Billionths of a dollar, as whole numbers: adding and taking away many small prices leaves no rounding behind. */
const nano = 1e9;

interface OfDay extends Amount {
  readonly day: string;
  readonly group: string;
}

const insertReservation = statement((kysely, { day, group, tokens, nanoUsd }: OfDay) =>
  kysely.insertInto("reservations").values({ day, group_name: group, tokens, nano_usd: nanoUsd }).returning("id"),
);

const takeReservation = statement((kysely, { id }: { readonly id: number }) =>
  kysely.deleteFrom("reservations").where("id", "=", id).returningAll(),
);

const countCall = statement((kysely, { day, group, tokens, nanoUsd }: OfDay) =>
  kysely
    .insertInto("usage_days")
    .values({ day, group_name: group, tokens, nano_usd: nanoUsd, calls: 1 })
    .onConflict((conflict) =>
      conflict.columns(["day", "group_name"]).doUpdateSet((set) => ({
        tokens: set("usage_days.tokens", "+", tokens),
        nano_usd: set("usage_days.nano_usd", "+", nanoUsd),
        calls: set("usage_days.calls", "+", 1),
      })),
    ),
);

const addToDay = statement((kysely, { day, group, tokens, nanoUsd }: OfDay) =>
  kysely
    .updateTable("usage_days")
    .set((set) => ({ tokens: set("tokens", "+", tokens), nano_usd: set("nano_usd", "+", nanoUsd) }))
    .where("day", "=", day)
    .where("group_name", "=", group),
);

/** Sums of a day: of all groups, and of this one. */
const sumDay = statement((kysely, { day, group }: { readonly day: string; readonly group: string }) =>
  kysely
    .selectFrom("usage_days")
    .select([
      sql<number>`coalesce(sum(tokens), 0)`.as("tokens"),
      sql<number>`coalesce(sum(nano_usd), 0)`.as("nanoUsd"),
      sql<number>`coalesce(sum(iif(group_name = ${group}, tokens, 0)), 0)`.as("groupTokens"),
      sql<number>`coalesce(sum(iif(group_name = ${group}, nano_usd, 0)), 0)`.as("groupNanoUsd"),
    ])
    .where("day", "=", day),
);

export const sqliteUsage = onDatabase<UsageStore>({
  reserve: (database, request) =>
    database.writeSoon(async (transaction) => {
      const { ofGroup, ofAll } = await usedOn(transaction, request.day, request.group);
      const wanted = { tokens: request.tokens, nanoUsd: Math.round(request.usd * nano) };
      const refusal =
        refuse(wanted, { of: "group", used: ofGroup, limits: request.groupLimits }) ??
        refuse(wanted, { of: "total", used: ofAll, limits: request.totalLimits });
      if (refusal) return refusal;
      return { granted: true, reservation: await reserve(transaction, request, wanted) };
    }),

  /** The reservation goes away with its settlement, so settling twice changes nothing. */
  settle: (database, reservation, used) =>
    database.writeSoon(async (transaction) => {
      const [reserved] = await takeReservation(transaction, { id: reservation });
      if (!reserved) return undefined;
      const tokens = used.inputTokens + used.outputTokens - reserved.tokens;
      const nanoUsd = Math.round((used.usd ?? 0) * nano) - reserved.nano_usd;
      await addToDay(transaction, { day: reserved.day, group: reserved.group_name, tokens, nanoUsd });
      await noteCall(transaction, reserved, used);
      if (used.tokenFactor !== undefined) await keepFactor(transaction, used.model, used.tokenFactor);
      const { ofGroup, ofAll } = await usedOn(transaction, reserved.day, reserved.group_name);
      return { day: reserved.day, group: toUse(ofGroup), total: toUse(ofAll) };
    }),

  async tokenFactors(database) {
    const rows = await database.read((kysely) => kysely.selectFrom("token_factors").selectAll().execute());
    return new Map(rows.map(({ model, factor }) => [model, factor]));
  },

  async learnedWindows(database) {
    const rows = await database.read((kysely) => kysely.selectFrom("learned_windows").selectAll().execute());
    return rows.map(({ model, window_tokens: windowTokens, described, learned_at: learnedAt }) => ({
      model,
      windowTokens,
      described,
      learnedAt,
    }));
  },

  async keepWindow(database, { model, windowTokens, described, learnedAt }) {
    const learned = { window_tokens: windowTokens, described, learned_at: learnedAt };
    await database.writeSoon((transaction) =>
      transaction
        .insertInto("learned_windows")
        .values({ model, ...learned })
        .onConflict((conflict) => conflict.column("model").doUpdateSet(learned))
        .execute(),
    );
  },

  async forgetLearned(database, models, { factors }) {
    await database.writeSoon(async (transaction) => {
      await transaction.deleteFrom("learned_windows").where("model", "in", models).execute();
      if (factors) await transaction.deleteFrom("token_factors").where("model", "in", models).execute();
    });
  },

  async warnsFirst(database, day, budget) {
    const known = await database.read((kysely) =>
      kysely
        .selectFrom("budget_warnings")
        .select("day")
        .where("day", "=", day)
        .where("budget", "=", budget)
        .executeTakeFirst(),
    );
    if (known) return false;
    return database.writeSoon(async (transaction) => {
      const added = await transaction
        .insertInto("budget_warnings")
        .values({ day, budget })
        .onConflict((conflict) => conflict.doNothing())
        .returning("day")
        .executeTakeFirst();
      return added !== undefined;
    });
  },

  async sums(database, by, since, { until, group } = {}) {
    const key = keys[by];
    const isWithin = sql`day >= ${since} and day <= ${until ?? "9999-12-31"} and (${group ?? null} is null or usage_calls.group_name = ${group ?? null})`;
    const { rows } = await database.read((kysely) =>
      sql<Omit<UsageSum, "name" | "usd"> & { readonly nanoUsd: number; readonly name: string | null }>`
        select ${key} as key, max(${by === "member" ? sql`members.name` : sql`null`}) as name, sum(calls) as calls,
          sum(input_tokens) as inputTokens, sum(cached_tokens) as cachedInputTokens,
          sum(written_tokens) as writtenInputTokens, sum(output_tokens) as outputTokens, sum(nano_usd) as nanoUsd,
          sum(unpriced_calls) as unpricedCalls
        from usage_calls
        left join members on members.group_name = usage_calls.group_name and members.sender_id = usage_calls.member_id
        where ${isWithin}
        group by ${key}
        order by ${by === "day" ? sql`day` : sql`sum(nano_usd) desc, sum(input_tokens + output_tokens) desc, ${key}`}`.execute(
        kysely,
      ),
    );
    return rows.map(({ nanoUsd, name, ...sum }) => ({ ...sum, name: name ?? undefined, usd: nanoUsd / nano }));
  },

  async ofDay(database, day) {
    const rows = await database.read((kysely) =>
      kysely.selectFrom("usage_days").selectAll().where("day", "=", day).orderBy("group_name").execute(),
    );
    return rows.map(({ group_name: group, tokens, nano_usd, calls }) => ({
      group,
      tokens,
      usd: nano_usd / nano,
      calls,
    }));
  },
});

const keys: Readonly<Record<UsageBy, RawBuilder<string>>> = {
  group: sql`usage_calls.group_name`,
  member: sql`iif(member_id = '', '', member_channel || ':' || member_id)`,
  model: sql`model`,
  day: sql`day`,
  agent: sql`agent`,
};

async function noteCall(
  transaction: Transaction<Tables>,
  { day, group_name }: { readonly day: string; readonly group_name: string },
  { model, turn, inputTokens, cachedInputTokens = 0, writtenInputTokens = 0, outputTokens, usd }: CallUsage,
): Promise<void> {
  const nanoUsd = Math.round((usd ?? 0) * nano);
  const unpriced = usd === undefined ? 1 : 0;
  const ofTurn = sql`where turns.id = ${turn ?? ""}`;
  // For each call of a model: building the queries would take longer than running them. The member is who spoke first.
  await sql`
    insert into usage_calls
      (day, group_name, agent, member_channel, member_id, model, calls, input_tokens, cached_tokens, written_tokens, output_tokens,
        nano_usd, unpriced_calls)
    select ${day}, ${group_name},
      coalesce((select substr(key, 1, instr(key, ':') - 1) from turns join sessions on sessions.id = turns.session ${ofTurn}), ''),
      coalesce(asker.channel, ''), coalesce(asker.sender_id, ''), ${model},
      1, ${inputTokens}, ${cachedInputTokens}, ${writtenInputTokens}, ${outputTokens}, ${nanoUsd}, ${unpriced}
    from (select 1) left join (select channel, sender_id from messages where turn = ${turn ?? ""} order by seq limit 1) as asker
    where true
    on conflict (day, group_name, agent, member_channel, member_id, model) do update set
      calls = calls + 1,
      input_tokens = input_tokens + excluded.input_tokens,
      cached_tokens = cached_tokens + excluded.cached_tokens,
      written_tokens = written_tokens + excluded.written_tokens,
      output_tokens = output_tokens + excluded.output_tokens,
      nano_usd = nano_usd + excluded.nano_usd,
      unpriced_calls = unpriced_calls + excluded.unpriced_calls`.execute(transaction);
}

async function keepFactor(transaction: Transaction<Tables>, model: string, factor: number): Promise<void> {
  await transaction
    .insertInto("token_factors")
    .values({ model, factor })
    .onConflict((conflict) => conflict.column("model").doUpdateSet({ factor }))
    .execute();
}

async function reserve(
  transaction: Transaction<Tables>,
  { day, group }: { day: string; group: string },
  { tokens, nanoUsd }: Amount,
): Promise<number> {
  const [reservation] = await insertReservation(transaction, { day, group, tokens, nanoUsd });
  await countCall(transaction, { day, group, tokens, nanoUsd });
  return written(reservation).id;
}

function toUse({ tokens, nanoUsd }: Amount): DayUse["total"] {
  return { tokens, usd: nanoUsd / nano };
}

async function usedOn(
  transaction: Transaction<Tables>,
  day: string,
  group: string,
): Promise<{ ofGroup: Amount; ofAll: Amount }> {
  const [sums] = await sumDay(transaction, { day, group });
  const { tokens, nanoUsd, groupTokens, groupNanoUsd } = written(sums);
  return { ofGroup: { tokens: groupTokens, nanoUsd: groupNanoUsd }, ofAll: { tokens, nanoUsd } };
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
