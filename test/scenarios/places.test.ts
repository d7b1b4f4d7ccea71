import { expect, test } from "vitest";

import { recordsOf } from "../support/host-records.ts";
import { groupOf, runsInOrder, startModelHost } from "../support/model-host.ts";

test("groups whose tools sleep keep no place that another group needs; when none can be left anymore, the tools that have run for longest end with a notice and a record", async () => {
  await using running = await startModelHost(
    (request) =>
      groupOf(request).startsWith("sleeper")
        ? runsInOrder("sleep 600")(request)
        : { text: `awake for ${groupOf(request)}` },
    {
      groups: { "sleeper-1": {}, "sleeper-2": {}, other: {}, another: {} },
      // A place is left after 2 seconds.
      config: { sessions: { maxHot: 1, holdMinutes: 0.05 } },
      withoutContainers: ["other", "another"],
      process: "shared",
    },
  );
  const { host } = running;
  const hits = async () =>
    (await recordsOf(host, "limit-hit")).map(({ group, data }) => [group, data["limit"]] as const);
  const isAsleep = async (group: string) => (await recordsOf(host, "tool-call", group)).length;

  const first = await host.say("sleeper-1", "@crab go");
  await expect.poll(() => isAsleep("sleeper-1")).toBe(1);
  const meanwhile = await host.ask("other", "@crab still there?");
  const before = await hits();
  await host.say("sleeper-2", "@crab go");
  await expect.poll(() => isAsleep("sleeper-2")).toBe(1);
  const later = await host.ask("another", "@crab still there?");
  const ended = await host.replyTo(first.id);

  expect(meanwhile).toMatchObject({ kind: "reply", text: "awake for other" });
  expect(before).toEqual([]);
  expect(later).toMatchObject({ kind: "reply", text: "awake for another" });
  expect(ended).toMatchObject({ kind: "notice", text: expect.stringContaining("Its tools had run for 3 seconds") });
  expect(await hits()).toEqual([["sleeper-1", "place-time"]]);
});
