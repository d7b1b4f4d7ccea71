import { sql } from "kysely";

// A literal, so that SQLite sees that the partial indexes apply.
export const isDue = sql<boolean>`work.state = 'due'`;
