import { sql, type Transaction } from "kysely";

import type { IntakeCharge, IntakeStore } from "../../contract/intake-store.ts";
import { onDatabase } from "../database/on-database.ts";
import type { Tables } from "../schema/tables.ts";

/** Notices already sent, as bits. */
const toldBit = { messages: 1, files: 2 } as const;
const nothing = { messages: 0, bytes: 0, attachment_bytes: 0 } as const;

export const sqliteIntake = onDatabase<IntakeStore>({
  async ofDay(database, day, { kind, name }) {
    const row = await database.read((kysely) =>
      kysely
        .selectFrom("intake_days")
        .select(["messages", "bytes", "attachment_bytes"])
        .where("day", "=", day)
        .where("kind", "=", kind)
        .where("name", "=", name)
        .executeTakeFirst(),
    );
    const { messages, bytes, attachment_bytes: attachmentBytes } = row ?? nothing;
    return { messages, bytes, attachmentBytes };
  },

  charge: (database, charge) => database.writeSoon((transaction) => chargeIntake(transaction, charge)),

  async tell(database, day, { kind, name }, about) {
    const told = toldBit[about];
    const row = await database.writeSoon((transaction) =>
      transaction
        .insertInto("intake_days")
        .values({ day, kind, name, ...nothing, told })
        .onConflict((conflict) =>
          conflict
            .columns(["day", "kind", "name"])
            .doUpdateSet({ told: sql<number>`intake_days.told | ${told}` })
            .where(sql<boolean>`intake_days.told & ${told} = 0`),
        )
        .returning("day")
        .executeTakeFirst(),
    );
    return row !== undefined;
  },
});

/** Charges all accounts in one statement inside the caller's transaction. */
export async function chargeIntake(transaction: Transaction<Tables>, charge: IntakeCharge): Promise<void> {
  const { day, accounts, amount } = charge;
  const { messages, bytes, attachmentBytes: attachment_bytes } = amount;
  if (accounts.length === 0) return;
  await transaction
    .insertInto("intake_days")
    .values(accounts.map(({ kind, name }) => ({ day, kind, name, messages, bytes, attachment_bytes })))
    .onConflict((conflict) =>
      conflict.columns(["day", "kind", "name"]).doUpdateSet((set) => ({
        messages: set("intake_days.messages", "+", messages),
        bytes: set("intake_days.bytes", "+", bytes),
        attachment_bytes: set("intake_days.attachment_bytes", "+", attachment_bytes),
      })),
    )
    .execute();
}
