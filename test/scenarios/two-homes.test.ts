import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { TestHost } from "../support/host.ts";

test("a copy of a home leaves the original's container alone, and proves that it has become another home", async () => {
  await using original = await TestHost.start({ process: "shared" });
  await original.ask("family", "@crab run export MARK=kept");
  const before = await original.containers();

  await using copied = await original.copy();
  await copied.boot();
  const reply = await copied.ask("family", "@crab run echo mark=$MARK");

  expect(reply.text).toContain("mark=\n");
  expect((await original.ask("family", "@crab run echo $MARK")).text).toContain("kept");
  expect(await original.containers()).toEqual(before);
  expect(await copied.containers()).toHaveLength(1);
  expect(copied.output.join("")).toContain(`this home was copied or moved from ${original.home}`);
  const [verified, events] = await Promise.all([
    copied.cli("audit", "verify"),
    copied.cli("events", "tail", "--after", "0", "--type", "home.copied", "--json"),
  ]);
  expect(verified.code).toBe(0);
  const ids = { formerInstance: await original.instance(), instance: await copied.instance() };
  expect(jsonLines(events.stdout)).toMatchObject([{ data: { from: original.home, to: copied.home, ...ids } }]);
});
