import { stat } from "node:fs/promises";

import SQLite from "better-sqlite3";

import type { HomePaths } from "../../config/home.ts";
import { toError } from "../../lib/app-error.ts";
import { describeAuditFault, verifyHomeAudit } from "../audit-check.ts";
import type { CheckResult } from "./check.ts";
import { bad, good } from "./check.ts";

/** SQLite's own check, on a read-only connection: also while a host is running. */
export async function checkDatabase(paths: HomePaths): Promise<CheckResult> {
  const file = paths.database;
  if ((await stat(file).catch(() => undefined)) === undefined) {
    return good("database", `${file} is not there yet; the first start makes it.`);
  }
  const fix = `Stop the host, keep a copy of ${file}, and restore a back-up: sqlite3 ${file} .recover`;
  try {
    const database = new SQLite(file, { readonly: true, timeout: 5_000 });
    try {
      const found: unknown = database.pragma("quick_check(5)", { simple: true });
      return found === "ok"
        ? good("database", `${file} passed the integrity check.`)
        : bad("database", `${file}: ${String(found)}`, fix);
    } finally {
      database.close();
    }
  } catch (error) {
    return bad("database", `${file} cannot be read: ${toError(error).message}.`, fix);
  }
}

/** Also while a host is running. What it finds is told in full by `crabpot audit verify`. */
export async function checkAudit(paths: HomePaths): Promise<CheckResult> {
  const result = await verifyHomeAudit(paths);
  if (!result.ok) return bad("audit", describeAuditFault(result), "crabpot audit verify");
  const gaps = result.gaps.length === 0 ? "" : ` The log records ${result.gaps.length} gaps or repairs.`;
  return good("audit", `${result.records} records, an unbroken chain.${gaps}`);
}
