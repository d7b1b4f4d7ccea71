import { expect, test } from "vitest";

import type { NewApproval } from "../../../src/domain/rights/approval.ts";
import type { StandingAsk } from "../../../src/stores/contract/approval-store.ts";
import { draft } from "../../contracts/store-setup.ts";
import { askIn, question } from "../../support/asked-question.ts";
import { openTestStore } from "../../support/open-test-store.ts";

const by = { person: "operator", actor: "operator", name: "The operator", role: "owner" } as const;
const limit = { most: 10, since: 0 };

function standing(code: string, more: Partial<NewApproval> = {}): StandingAsk {
  const asked = { ...question({ askedAt: 100 }), code, call: "", tool: "wiki__search", sha256: code, ...more };
  const approval = { ...asked, about: "description" as const };
  return { group: "family", approval, card: draft(`May I? ${code}`), limit };
}

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
