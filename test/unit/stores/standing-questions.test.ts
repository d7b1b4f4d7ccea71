import { join } from "node:path";

import SQLite from "better-sqlite3";
import { expect, test } from "vitest";

import type { NewApproval } from "../../../src/domain/rights/approval.ts";
import { openStore } from "../../../src/stores/catalog.ts";
import type { StandingAsk } from "../../../src/stores/contract/approval-store.ts";
import { draft } from "../../contracts/store-setup.ts";
import { askIn, question } from "../../support/asked-question.ts";
import { makeOlderStore } from "../../support/older-store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const by = { person: "operator", actor: "operator", name: "The operator", role: "owner" } as const;
const limit = { most: 10, since: 0 };

function standing(code: string, more: Partial<NewApproval> = {}): StandingAsk {
  const asked = { ...question({ askedAt: 100 }), code, call: "", tool: "wiki__search", sha256: code, ...more };
  const approval = { ...asked, about: "description" as const };
  return { group: "family", approval, card: draft(`May I? ${code}`), limit };
}

/** Inserts a row; columns that must have a value and are not named get one. */
function insertRow(database: SQLite.Database, table: string, values: Readonly<Record<string, unknown>>): void {
  const columns = database.pragma(`table_info(${table})`) as Column[];
  const used = columns.filter(
    ({ name, notnull, dflt_value: usual }) => name in values || (notnull === 1 && usual === null),
  );
  const row = used.map(({ name, type }) => values[name] ?? (type.toLowerCase() === "integer" ? 1 : "x"));
  const names = used.map(({ name }) => name);
  database.prepare(`insert into ${table} (${names.join()}) values (${names.map(() => "?").join()})`).run(...row);
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt_value: unknown;
}

test("a store of a version that asked only in turns keeps what was asked, who allowed it and which thumbs counted", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "crabpot.sqlite");
  await makeOlderStore(path, "0050-erasures");
  const database = new SQLite(path);
  insertRow(database, "sessions", { id: "s" });
  insertRow(database, "turns", { id: "t", session: "s", state: "running" });
  insertRow(database, "steps", { seq: 1, turn: "t", session: "s" });
  const asked = { code: "x", session: "s", turn: "t", step: 1, state: "open", risk: "high", quorum: 2 };
  insertRow(database, "approvals", asked);
  database.exec(`insert into approval_votes values ('x', 'ann', 'once', 1)`);
  database.exec(`insert into card_reactions values ('x', 'ann', 'r', 0, 1)`);
  database.close();

  await using store = await openStore({ kind: "sqlite", path });

  expect(await store.approvals.get("x")).toMatchObject({ about: undefined, turn: "t", votes: 1, quorum: 2 });
  expect(await store.approvals.reactionOf("x", "ann")).toMatchObject({ id: "r" });
});

test("what hangs on no turn is asked once, takes the place of what was asked about the same tool, and no more often than it may be", async () => {
  await using home = await openTestStore();
  const { approvals, outbox } = home.store;

  const outcomes = [];
  for (const code of ["AAA", "AAA", "BBB"]) outcomes.push(await approvals.ask(standing(code)));
  outcomes.push(await approvals.ask({ ...standing("CCC"), limit: { most: 2, since: 0 } }));
  outcomes.push(await approvals.ask({ ...standing("DDD", { tool: "wiki__read" }), card: undefined }));

  expect(outcomes).toEqual(["asked", "known", "asked", "too-many", "asked"]);
  const states = (await approvals.list({ about: "description", limit: 9 })).map(
    ({ code, state }) => `${code} ${state}`,
  );
  expect(states.toSorted()).toEqual(["AAA cancelled", "BBB cancelled", "DDD open"]);
  expect((await outbox.unsent(9)).map(({ text }) => text)).toEqual(["May I? AAA", "May I? BBB"]);
});

test("what hangs on no turn is decided, cancelled and forgotten like all else, and holds up no turn", async () => {
  await using home = await openTestStore();
  const { store } = home;
  await askIn(store, [question({ askedAt: 100 })]);
  await store.approvals.ask(standing("BBB"));
  await store.approvals.ask(standing("CCC", { tool: "wiki__read" }));

  const answer = { code: "BBB", allow: true, scope: "always", by, at: 200 } as const;
  const { outcome, approval } = await store.approvals.decide(answer, () => []);
  const cancelled = [await store.approvals.cancel("CCC", 200, []), await store.approvals.cancel("CCC", 300, [])];

  expect(outcome).toBe("allowed");
  expect(approval).toMatchObject({ about: "description", scope: "once", turn: undefined, session: undefined });
  expect(cancelled).toEqual([true, false]);
  expect(await store.approvals.grants({ now: 300 })).toEqual([]);
  expect((await store.approvals.open()).map(({ code }) => code)).toEqual(["AAAAAA"]);
  for (const code of ["BBB", "CCC"]) await store.approvals.recorded(code);
  expect(await store.retention.approvals(1_000, 10)).toBe(2);
});
