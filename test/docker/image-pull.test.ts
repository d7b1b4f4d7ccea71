import { expect, test } from "vitest";
import { openImageBuilder } from "../../src/sandbox/engine/catalog.ts";
import { engineWithAgentImage, surroundings } from "../support/engine.ts";
import { smallRegistry } from "../support/small-registry.ts";

test("an image that is named by tag and digest is pulled, and found by that name afterwards", async () => {
  const { engine } = await engineWithAgentImage();
  const builder = await openImageBuilder(surroundings);
  await using registry = await smallRegistry({ isSilent: false });
  const reference = `${registry.address}/crabpot-test:24-slim@${registry.digest}`;
  const lines: string[] = [];

  await builder.pull(reference, 20_000, (line) => lines.push(line));
  const image = await engine.image(reference);
  await builder.remove(reference);

  expect(image).toMatchObject({ labels: { "crabpot.test": "pulled" } });
  expect(lines.join("\n")).toContain(registry.digest);
  expect(await engine.image(reference)).toBeUndefined();
});

test("an image that the registry does not have is refused in its words", async () => {
  const builder = await openImageBuilder(surroundings);
  await using registry = await smallRegistry({ isSilent: false });
  const reference = `${registry.address}/crabpot-test:1@sha256:${"0".repeat(64)}`;

  await expect(builder.pull(reference, 20_000, () => {})).rejects.toMatchObject({
    code: "engine_refused",
    message: expect.stringContaining(`pull ${reference}: `),
  });
});

test("a registry that takes the connection and says nothing is given up", async () => {
  const builder = await openImageBuilder(surroundings);
  await using registry = await smallRegistry({ isSilent: true });

  await expect(builder.pull(`${registry.address}/crabpot-test:1`, 1_000, () => {})).rejects.toMatchObject({
    code: "engine_unavailable",
    message: expect.stringContaining("no progress for 1 s"),
  });
});
