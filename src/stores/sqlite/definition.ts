import * as z from "zod";

import { defineStore } from "../define-store.ts";

/** One file; its folder is made if it is missing. One process writes to it. */
export const sqlite = defineStore({
  kind: "sqlite",
  config: z.strictObject({ path: z.string().min(1) }),
  open: async ({ path }) => {
    const { openSqliteStore } = await import("./open-sqlite-store.ts");
    return openSqliteStore({ path });
  },
  openAuditWitness: async ({ path }) => {
    const { openSqliteAuditWitness } = await import("./readers/audit-witness.ts");
    return openSqliteAuditWitness(path);
  },
  openReader: async ({ path }) => {
    const { openSqliteStoreReader } = await import("./readers/store-reader.ts");
    return openSqliteStoreReader(path);
  },
  openEventReader: async ({ path }) => {
    const { openSqliteEventReader } = await import("./readers/event-reader.ts");
    return openSqliteEventReader(path);
  },
});
