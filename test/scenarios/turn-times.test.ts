import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { runsInOrder, startModelHost } from "../support/model-host.ts";
import { showTurn } from "../../src/operations/turns/operations.ts";

test("an operator sees where the time of a turn went, in the turn itself and as metrics", async () => {
  await using running = await startModelHost(runsInOrder("sleep 0.3"), { process: "shared" });
  const { host } = running;

  const { turn } = await host.ask("family", "@crab go");
  const show = () => host.control.call(showTurn, { id: String(turn), maxChars: 100 });
  await expect.poll(show).toMatchObject({ times: { send: expect.any(Number) } });
  const [report] = jsonLines((await host.cli("turns", "show", String(turn), "--json")).stdout);
  const text = (await host.cli("turns", "show", String(turn))).stdout;
  const metrics = await (await host.get("/metrics")).text();

  const times = report?.["times"] as Record<string, number>;
  expect(Object.keys(times).toSorted()).toEqual(["container", "context", "mailbox", "model", "queue", "send", "tools"]);
  expect(times["tools"]).toBeGreaterThan(300);
  expect(text).toMatch(/of which +queue .*, container .*, context .*, model .*, tools .*, mailbox .*, send /);
  for (const phase of Object.keys(times)) {
    expect(metrics).toMatch(new RegExp(`crabpot_turn_phase_seconds_count\\{phase="${phase}"\\} [1-9]`));
  }
});
