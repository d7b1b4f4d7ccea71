import type SQLite from "better-sqlite3";

import { AppError } from "../../../lib/app-error.ts";

/** Every page of a file, and an empty log. Throws a passing `store_failed` while another process reads from it. */
export function rewriteFile(connection: SQLite.Database, path: string): void {
  connection.pragma("secure_delete = ON");
  try {
    connection.exec("vacuum");
    const [emptied] = connection.pragma("wal_checkpoint(TRUNCATE)") as { readonly busy: number }[];
    if (emptied?.busy === 0) return;
  } finally {
    connection.pragma("secure_delete = OFF");
  }
  throw new AppError("store_failed", `The log of ${path} cannot be emptied: another process reads from it.`, {
    fix: "end the other program, such as a backup, and do it again",
    passing: true,
  });
}
