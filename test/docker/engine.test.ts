import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { containerEngineContract } from "../contracts/container-engine.ts";
import { askEngine } from "../support/engine-api.ts";
import { engineWithAgentImage, testContainer } from "../support/engine.ts";
import { interruptibleEngine } from "../support/interruptible-engine.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";

describe("the machine's engine", () => {
  containerEngineContract(engineWithAgentImage);
});

const forever = ["sleep", "1000"];

async function withInterruptions(folder: string): Promise<ReturnType<typeof interruptibleEngine>> {
  const { engine } = await engineWithAgentImage();
  const { address } = await engine.facts();
  return interruptibleEngine(folder, address.replace(/^unix:\/\//, ""));
}

test("an engine that stops ends what is waited for, is told as unavailable, and is used again when it is back", async () => {
  await using folder = await temporaryFolder(onDisk);
  await using way = await withInterruptions(folder.path);
  await using engine = await openEngine({ env: { DOCKER_HOST: way.url }, homeFolder: folder.path });
  const { engine: direct, image } = await engineWithAgentImage();
  await using container = await testContainer(direct, image, forever);
  const output = text(await engine.attach(container.id));
  await engine.start(container.id);
  const exit = engine.waitForExit(container.id, AbortSignal.timeout(120_000));
  await engine.inspect(container.id);

  await Promise.all([
    way.stop(),
    expect(exit).rejects.toMatchObject({ code: "engine_unavailable", message: expect.stringContaining(way.url) }),
  ]);

  await expect(engine.inspect(container.id)).rejects.toMatchObject({ code: "engine_unavailable" });
  expect(await output).toBe("");
  await way.start();
  expect(await engine.inspect(container.id)).toMatchObject({ State: { Running: true } });
});

test("a container that has read all there is can still answer", async () => {
  const { engine, image } = await engineWithAgentImage();
  const stdin = { OpenStdin: true, StdinOnce: true, AttachStdin: true };
  await using container = await testContainer(engine, image, ["sh", "-c", "wc -c; echo done"], stdin);

  const { input, output } = await engine.converse(container.id);
  await engine.start(container.id);
  input.end("x".repeat(100_000));

  expect((await text(output)).trim().split(/\s+/)).toEqual(["100000", "done"]);
});

test("the anonymous volumes of a container go with it", async () => {
  const { engine, image } = await engineWithAgentImage();
  const { address } = await engine.facts();
  const findVolume = async (name: string): Promise<unknown> => {
    return JSON.parse(await askEngine(address.replace("unix://", ""), "GET", `/volumes/${name}`));
  };
  await using container = await testContainer(engine, image, forever, { Volumes: { "/data": {} } });
  const inspection = (await engine.inspect(container.id)) as { Mounts?: { Name: string }[] };
  const volume = inspection.Mounts?.[0]?.Name ?? "none";
  expect(await findVolume(volume)).toMatchObject({ Name: volume });

  await engine.remove(container.id);

  await expect(findVolume(volume)).rejects.toThrow(": 404 ");
});
