import { expect, test } from "vitest";

import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { surroundings } from "../support/engine.ts";
import { runLeakyTests } from "../support/leaky-tests.ts";

test("a test file that leaves a container behind fails, is told whose it is, and the container is removed", async () => {
  const { code, told } = await runLeakyTests("container");
  const left = /^Left behind:\n- container (\S+) of the test "leaves a container"$/.exec(
    told["container"]?.["file"] ?? "",
  );

  expect(code).toBe(1);
  expect(left).not.toBeNull();
  await using engine = await openEngine(surroundings);
  expect((await engine.list({})).map(({ name }) => name)).not.toContain(left?.[1]);
});
