import { expect, test } from "vitest";

import { addFailedTurn, startControlledHost } from "../../support/crabpot-control.ts";
import { crabpot } from "../../support/crabpot.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { readStatus } from "../../../src/operations/host/operations.ts";
import { listTurns, showTurn } from "../../../src/operations/turns/operations.ts";

test("an operator sees what waits in each group, since when, and next to the turns of the group", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  await addFailedTurn(host.store, "t1");
  const message = { channel: "terminal", chat: "main", sender: { id: "ann", name: "Ann" }, text: "x", mention: true };
  const at = Date.now() - 300_000;
  for (const id of ["1", "2"])
    await host.store.messages.insert({ ...message, id }, { group: "main", state: "waiting", at });

  const found = await host.client.call(readStatus, {});
  const [turn] = await host.client.call(listTurns, { limit: 5 });
  const report = await host.client.call(showTurn, { id: "t1", maxChars: 100 });
  const shown = [
    await crabpot({ home: folder.path }, "status"),
    await crabpot({ home: folder.path }, "turns", "list"),
    await crabpot({ home: folder.path }, "turns", "show", "t1"),
  ];

  const waiting = { messages: 2, oldestAt: at };
  expect(found.waiting).toEqual([{ group: "main", ...waiting }]);
  expect([turn?.waiting, report.turn.waiting]).toEqual([waiting, waiting]);
  expect(shown.map(({ stdout }) => /2.*oldest 5 min/.test(stdout))).toEqual([true, true, true]);
});
