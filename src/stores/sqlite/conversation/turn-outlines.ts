import { type RawBuilder, sql } from "kysely";

import type { TurnOutline } from "../../contract/store.ts";
import type { Database } from "../database/database.ts";

const emptyOutline = { sender: undefined, text: undefined, usage: [] } as const;

/** Beginnings of these turns and their models' usage, as far as kept. */
export async function outlineTurns(database: Database, turns: readonly string[]): Promise<Map<string, TurnOutline>> {
  const isOneOf = sql<boolean>`turn in (select value from json_each(${JSON.stringify(turns)}))`;
  const messages = await database.read((kysely) =>
    kysely
      .selectFrom("messages")
      .select(["turn", "sender_name", "text"])
      // SQLite takes the other columns from the row that has the least.
      .select((select) => select.fn.min("seq").as("first"))
      .where("turn", "is not", null)
      .where("pruned", "=", 0)
      .where(isOneOf)
      .groupBy("turn")
      .execute(),
  );
  const work = await database.read((kysely) =>
    kysely.selectFrom("work").select(["turn", "text"]).where("turn", "is not", null).where(isOneOf).execute(),
  );
  const usage = await database.read((kysely) =>
    kysely
      .selectFrom("steps")
      .select(["turn", sql<string>`body ->> '$.answer.model'`.as("model")])
      .select([used("inputTokens").as("inputTokens"), used("cachedInputTokens").as("cachedInputTokens")])
      .select(used("outputTokens").as("outputTokens"))
      .where(isOneOf)
      .where(sql<boolean>`body ->> '$.kind' = 'model'`)
      .groupBy(["turn", "model"])
      .execute(),
  );
  const outlines = new Map<string, TurnOutline>();
  const add = (turn: string | null, more: Partial<TurnOutline>): void => {
    if (turn !== null) outlines.set(turn, { ...emptyOutline, ...outlines.get(turn), ...more });
  };
  for (const { turn, text } of work) add(turn, { text });
  for (const { turn, sender_name: sender, text } of messages) add(turn, { sender, text });
  for (const { turn, model, ...tokens } of usage) {
    add(turn, { usage: [...(outlines.get(turn)?.usage ?? []), { model, ...tokens }] });
  }
  return outlines;
}

function used(field: string): RawBuilder<number> {
  return sql<number>`sum(body ->> ${sql.lit(`$.answer.usage.${field}`)})`;
}
