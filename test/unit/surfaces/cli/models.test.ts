import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { startControlledHost } from "../../../support/crabpot-control.ts";
import { crabpot, jsonLines, newHome } from "../../../support/crabpot.ts";

test("models says what was learned, also of models that no route names, and forgets it", async () => {
  await using place = await newHome();
  await writeFile(join(place.home, "config.yaml"), "{}", { mode: 0o600 });
  const host = await startControlledHost(place.home);
  const at = Date.UTC(2026, 0, 15, 18);
  await host.store.usage.keepWindow({ model: "local/llama", windowTokens: 8_192, described: "x", learnedAt: at });
  const before = await crabpot(place, "models", "list", "--json");

  const shown = await crabpot(place, "models", "list");
  const wrong = await crabpot(place, "models", "forget", "local/lama");
  const one = await crabpot(place, "models", "forget", "local/llama", "--json");
  const none = await crabpot(place, "models", "forget");
  await host[Symbol.asyncDispose]();
  const stopped = await crabpot(place, "models", "list", "--json");
  const away = await crabpot(place, "models", "forget");

  expect(jsonLines(before.stdout)).toEqual([
    { name: "offline/scripted", routes: ["main"], windowTokens: 200_000 },
    { name: "local/llama", routes: [], windowTokens: 8_192, learned: { windowTokens: 8_192, at } },
  ]);
  expect(shown.stdout).toMatch(/^local\/llama\t\t8192\t2026-01-15 18:00:00\t$/m);
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Nothing was learned of a model "local/lama"'),
  });
  expect(jsonLines(one.stdout)).toEqual([{ forgotten: ["local/llama"] }]);
  expect(none.stdout).toBe("Nothing to forget.\n");
  expect(jsonLines(stopped.stdout).map(({ name }) => name)).toEqual(["offline/scripted"]);
  expect(away.code).toBe(4);
});
