import { sql } from "kysely";

import { AppError } from "../../lib/app-error.ts";
import type { LeaseStore } from "../contract/lease-store.ts";
import { onDatabase } from "./database/on-database.ts";

/** Leases in the sessions' rows, so that a write checks the lease without another query. */
export const sqliteLeases = onDatabase<LeaseStore>({
  claim(database, session, { owner, now, ttlMs }) {
    const expiresAt = now + ttlMs;
    return database.writeSoon(async (transaction) => {
      const held = await transaction
        .selectFrom("sessions")
        .select(["lease_owner", "lease_generation", "lease_expires_at"])
        .where("id", "=", session)
        .executeTakeFirst();
      if (!held) throw new AppError("not_found", `There is no session ${session}.`);
      const isOurs = held.lease_owner === owner;
      if (!isOurs && held.lease_owner !== null && held.lease_expires_at > now) return undefined;
      const generation = isOurs ? held.lease_generation : held.lease_generation + 1;
      await transaction
        .updateTable("sessions")
        .set({ lease_owner: owner, lease_generation: generation, lease_expires_at: expiresAt })
        .where("id", "=", session)
        .execute();
      return { session, owner, generation, expiresAt };
    });
  },

  async release(database, { session, owner, generation }) {
    await database.writeSoon((transaction) =>
      transaction
        .updateTable("sessions")
        .set({ lease_owner: null })
        .where("id", "=", session)
        .where("lease_owner", "=", owner)
        .where("lease_generation", "=", generation)
        .execute(),
    );
  },

  async endAll(database) {
    await database.writeSoon((transaction) =>
      transaction
        .updateTable("sessions")
        .set({ lease_owner: null })
        .where(sql<boolean>`lease_owner is not null`)
        .execute(),
    );
  },
});
