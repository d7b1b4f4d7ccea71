import { expect, test } from "vitest";

import type { ContainerExit } from "../../../../src/sandbox/engine/engine.ts";
import type { LimitHit } from "../../../../src/domain/turns/limit.ts";
import { HotContainer } from "../../../../src/sandbox/pool/hot-container.ts";
import { hotContainerOptions, runningContainer } from "../../../support/container-parts.ts";

/** A container whose end and whose attestation are in the hands of the test, and whose agent is ready at once. */
function container(options: { readonly remove?: () => Promise<void> } = {}) {
  const exit = Promise.withResolvers<ContainerExit>();
  const attestation = Promise.withResolvers<readonly string[]>();
  const log: string[] = [];
  const running = runningContainer({
    exited: exit.promise,
    attest: () => attestation.promise,
    remove: options.remove ?? (async () => undefined),
  });
  const parts = hotContainerOptions({
    onGone: (_container, reason) => void log.push(`gone: ${reason}`),
    onLeftBehind: () => void log.push("left behind"),
  });
  return { exit, attestation, log, running, parts };
}

test("a container that ends while it is attested is never used, however good it looked", async () => {
  const { exit, attestation, log, running, parts } = container();

  const started = HotContainer.start(parts, async () => running, 60_000);
  exit.resolve({ code: 137, oomKilled: false });
  await expect.poll(() => log).toEqual(["gone: it ended with exit code 137 (killed, perhaps for lack of memory)"]);
  attestation.resolve([]);

  await expect(started).rejects.toMatchObject({ code: "container_lost" });
});

test("a container that is taken over and ends while it is attested is never used either", async () => {
  const { exit, attestation, log, running, parts } = container();

  const adopted = HotContainer.adopt(parts, running);
  exit.resolve({ code: 0, oomKilled: true });
  await expect.poll(() => log).toEqual(["gone: it ran out of memory"]);
  attestation.resolve([]);

  await expect(adopted).rejects.toMatchObject({ code: "container_lost" });
});

test("that a container could not be removed is told, so that it is looked for again", async () => {
  const { attestation, log, running, parts } = container({
    remove: async () => {
      throw new Error("the engine is away");
    },
  });
  attestation.resolve([]);

  const hot = await HotContainer.start(parts, async () => running, 60_000);
  await hot.close("it is not needed");

  expect(log).toEqual(["gone: it is not needed", "left behind"]);
});

test("the lack of memory that ended a container is told once, whatever the kernel has counted by then", async () => {
  const { exit, attestation, running, parts } = container();
  attestation.resolve([]);
  const told: string[] = [];
  const counting = { ...running, limitCounters: async () => ({ memoryKills: 2, refusedProcesses: 1 }) };
  const telling = { ...parts, onLimit: (_hot: HotContainer, { text }: LimitHit) => void told.push(text) };

  await HotContainer.start(telling, async () => counting, 60_000);
  exit.resolve({ code: 137, oomKilled: true });

  await expect
    .poll(() => told)
    .toEqual([
      "The container ran out of memory and was ended.",
      "The container had as many processes as it may have: starting another one was refused.",
    ]);
});
