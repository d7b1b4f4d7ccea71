import { join } from "node:path";

import { pino } from "pino";
import { expect, test } from "vitest";

import { ApprovalService } from "../../src/rights/approvals/approval-service.ts";
import type { Decider } from "../../src/domain/rights/approval.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { openStore } from "../../src/stores/catalog.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { askIn, question } from "../support/asked-question.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const askedAt = 1_000_000;
const clock = { now: () => askedAt + 1_000 };

/** A turn that has asked these. */
function ask(store: Store, codes: readonly string[]): Promise<void> {
  const questions = codes.map((code) => question({ code, call: code, askedAt }));
  return askIn(store, questions);
}

function serviceOf(store: Store): ApprovalService {
  return new ApprovalService({
    store: store.approvals,
    wake: () => Promise.resolve(),
    carryOut: () => Promise.resolve(),
    carryOutReviews: async () => "done",
    forms: { read: () => undefined, fill: () => undefined, settled: () => undefined },
    isMoot: async () => false,
    deniedBy: () => Promise.resolve(undefined),
    deliver: () => undefined,
    publish: () => Promise.resolve(),
    clock,
    forwardClock: clock,
    logger: pino({ level: "silent" }),
  });
}

function person(name: string): Decider {
  return { person: `terminal:${name}`, actor: `member:${name}`, name, role: "admin" };
}

test("of two hosts on one file that answer the same codes at once, one wins each, and what the chat is told is what counts", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "crabpot.sqlite");
  await using one = await openStore({ kind: "sqlite", path });
  await using other = await openStore({ kind: "sqlite", path });
  using first = serviceOf(one);
  using second = serviceOf(other);
  const codes = Array.from({ length: 20 }, (_, index) => `AAAA${String(index).padStart(2, "0")}`);
  await ask(one, codes);

  const answers = await Promise.all(
    codes.map((code) =>
      Promise.allSettled([
        first.answer({ code, allow: true, scope: "always", by: person("ann") }),
        second.answer({ code, allow: false, scope: "once", by: person("bob") }),
      ]),
    ),
  );

  for (const [index, results] of answers.entries()) {
    const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const lost = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    expect([won.length, lost.length]).toEqual([1, 1]);
    expect(lost[0]).toBeInstanceOf(AppError);
    expect(lost[0]).toMatchObject({ code: "conflict", message: expect.stringContaining("already decided") });
    const [kept] = [await other.approvals.get(codes[index] ?? "")];
    expect(kept).toMatchObject({ state: won[0]?.state, decider: { name: won[0]?.decider?.name } });
  }
  const allowed = answers.filter(([ann]) => ann.status === "fulfilled").length;
  expect(await one.approvals.grants({ now: clock.now() })).toHaveLength(allowed);
  const told = (await one.outbox.unsent(100)).filter(({ text }) => / has (?:allowed|denied) shell/.test(text));
  expect(told).toHaveLength(codes.length);
  expect(await one.approvals.openCount()).toBe(0);
});
