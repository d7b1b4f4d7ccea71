import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { crabpot, jsonLines, newHome, startCrabpot, withoutEngine } from "../../../support/crabpot.ts";

test("reload makes the host read its files; stop ends it in good order, and returns when its home is free", async () => {
  await using place = await newHome();
  const start = async () => {
    const child = startCrabpot({ ...place, variables: withoutEngine }, "start");
    child.stderr.resume();
    await expect.poll(() => existsSync(join(place.home, "control.sock"))).toBe(true);
    return child;
  };
  const first = await start();
  await writeFile(join(place.home, "config.yaml"), "assistant: { name: claw }", { mode: 0o600 });

  const reloaded = await crabpot(place, "reload", "--json");
  const ended = once(first, "exit") as Promise<[number]>;
  const stopped = await crabpot(place, "stop");
  const second = await start();
  const again = await crabpot(place, "stop", "--json");

  expect(jsonLines(reloaded.stdout)[0]).toMatchObject({ config: { state: "applied" } });
  expect(stopped).toMatchObject({
    code: 0,
    stdout: `The host (pid ${first.pid}) is stopping …\nThe host has ended.\n`,
  });
  expect((await ended)[0]).toBe(0);
  expect(jsonLines(again.stdout)).toEqual([{ pid: second.pid, state: "stopped" }]);
  const events = jsonLines((await crabpot(place, "events", "tail", "--json")).stdout);
  expect(events.slice(-1)).toMatchObject([{ type: "host.stopped" }]);
});
