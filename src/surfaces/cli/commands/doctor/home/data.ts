import { stat } from "node:fs/promises";

import SQLite from "better-sqlite3";

import type { HomePaths } from "../../../../../config/home/home.ts";
import { toError } from "../../../../../lib/app-error.ts";
import { shellQuoted } from "../../../../../lib/files/paths.ts";
import { describeAuditFault, verifyHomeAudit } from "../../audit/check.ts";
import type { CheckResult } from "../check.ts";
import { bad, good, warning } from "../check.ts";
import { ownCommand } from "../../../../../lib/process/own-command.ts";

/** SQLite's own check, on a read-only connection: also while a host is running. */
export async function checkDatabase(paths: HomePaths): Promise<CheckResult> {
  const file = paths.database;
  if ((await stat(file).catch(() => undefined)) === undefined) {
    return good("database", `${file} does not exist yet; the first start creates it.`);
  }
  const aside = `mv ${shellQuoted(file)} ${shellQuoted(`${file}.damaged`)}`;
  const fix = `Stop the host and restore ${file} from a backup. Without one: ${aside}; the host then starts with an empty store.`;
  try {
    const database = new SQLite(file, { readonly: true, timeout: 5_000 });
    try {
      const found: unknown = database.pragma("quick_check(5)", { simple: true });
      if (found !== "ok") return bad("database", `${file}: ${String(found)}`, fix);
      const cutOff = oldestOpenErasure(database);
      if (cutOff === undefined) return good("database", `${file} passed the integrity check.`);
      const detail = `${file} passed the integrity check, but the erasure of a person, started at ${new Date(cutOff).toISOString()}, was interrupted.`;
      return warning("database", detail, `Run it again: ${ownCommand("people forget <id>")}`);
    } finally {
      database.close();
    }
  } catch (error) {
    return bad("database", `Cannot read ${file}: ${toError(error).message}.`, fix);
  }
}

/**
 * When the oldest erasure began that has not ended; undefined where there is none, or the store is from before there
 * were any.
 */
function oldestOpenErasure(database: SQLite.Database): number | undefined {
  const hasTable = database.prepare("select 1 from sqlite_schema where name = 'erasures'").get() !== undefined;
  if (!hasTable) return undefined;
  const oldest = database.prepare("select min(begun_at) from erasures where ended_at is null").pluck().get();
  return (oldest as number | null) ?? undefined;
}

/** Also while a host is running. What it finds is told in full by `crabpot audit verify`. */
export async function checkAudit(paths: HomePaths): Promise<CheckResult> {
  const result = await verifyHomeAudit(paths);
  if (!result.ok) {
    const fix = `Lost records cannot be restored. To see what can be trusted: ${ownCommand("audit verify")}`;
    return bad("audit", describeAuditFault(result), fix);
  }
  const unbroken = `${result.records} records, an unbroken chain.`;
  if (result.gaps.length === 0) return good("audit", unbroken);
  const detail = `${unbroken} The log records ${result.gaps.length} gaps or repairs.`;
  if (result.gaps.every(({ type }) => type === "audit-recovered")) return good("audit", detail);
  return warning(
    "audit",
    detail,
    `Lost records cannot be restored. To see what is missing: ${ownCommand("audit verify")}`,
  );
}
