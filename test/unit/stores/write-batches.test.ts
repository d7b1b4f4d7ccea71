import { expect, test } from "vitest";

import { openSqliteStore } from "../../../src/stores/sqlite/open-sqlite-store.ts";
import { finished, insert, runningTurn, step, inChat } from "../../contracts/store-setup.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("what is written at once is one transaction, and each change comes out as it would alone", async () => {
  await using folder = await temporaryFolder();
  const statements: string[] = [];
  const onQuery = (statement: string): void => void statements.push(statement);
  await using store = await openSqliteStore({ path: `${folder.path}/home/store`, onQuery });
  statements.length = 0;

  const seqs = await Promise.all(Array.from({ length: 20 }, (_, id) => insert(store, String(id))));

  expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
  expect(statements.filter((statement) => statement === "commit")).toHaveLength(1);
});

test("a change that is refused takes no other with it", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await runningTurn(store);
  await store.turns.finish("t", finished);

  const [before, refused, after] = await Promise.allSettled([
    insert(store, "before"),
    store.turns.addStep("t", step("too late")),
    insert(store, "after"),
  ]);

  expect(refused).toMatchObject({ status: "rejected", reason: { code: "conflict" } });
  expect([before.status, after.status]).toEqual(["fulfilled", "fulfilled"]);
  expect((await store.messages.waiting(inChat("family"), 10)).map(({ id }) => id)).toEqual(["before", "after"]);
  expect(await store.turns.steps("t")).toHaveLength(1);
});
