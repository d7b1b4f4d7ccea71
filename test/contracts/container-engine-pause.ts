import { expect, test } from "vitest";

import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { testContainer } from "../support/engine.ts";

const forever = ["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"];

export function pauseContract(open: () => Promise<{ engine: ContainerEngine; image: string }>): void {
  test("a paused container stands still, goes on where it was, and pausing and unpausing twice succeeds", async () => {
    const { engine, image } = await open();
    await using container = await testContainer(engine, image, forever);
    await engine.start(container.id);

    await engine.pause(container.id);
    await engine.pause(container.id);
    const paused = await engine.inspect(container.id);
    await engine.unpause(container.id);
    await engine.unpause(container.id);

    expect(paused).toMatchObject({ State: { Status: "paused" } });
    expect(await engine.inspect(container.id)).toMatchObject({ State: { Status: "running" } });
  });

  test("a paused container can be removed", async () => {
    const { engine, image } = await open();
    await using container = await testContainer(engine, image, forever);
    await engine.start(container.id);
    await engine.pause(container.id);

    await engine.remove(container.id);

    expect(await engine.inspect(container.id)).toBeUndefined();
  });
}
