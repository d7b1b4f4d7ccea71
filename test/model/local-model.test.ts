import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { LocalEmbedder } from "../../src/abilities/memory/embedding/local-embedder.ts";
import { modelFolder, weightsFile } from "../../src/abilities/memory/embedding/model-files.ts";
import { GroupMemory } from "../../src/abilities/memory/group-memory.ts";
import { cachedModelFolder, linkModel } from "../support/cached-model.ts";
import { openEmbeddedHost } from "../support/embedded-host.ts";
import { modelKey } from "../support/model-host.ts";
import { startOpenAiServer } from "../support/model-servers/openai.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };

test("the model finds what has no word in common, is replaced when it is killed, and ends when it is idle", async () => {
  await using folder = await temporaryFolder();
  const model = join(folder.path, "model");
  await linkModel(model);
  await using embedder = new LocalEmbedder(model, { idleMs: 500, answerMs: 60_000 });
  await using memory = new GroupMemory({ path: join(folder.path, "family.sqlite"), weights, embedder });
  const said = { category: "conversation", sender: "Ann", origin: "member", sources: [] } as const;
  memory.add([
    { ...said, id: "pet", text: "We got a kitten from the shelter", time: 0 },
    { ...said, id: "work", text: "The quarterly budget is due on Thursday", time: 86_400_000 },
    ...["a", "👩‍👩‍👧", "e\u0301\u0300", "سلام", "\u202Ea", "\uD83D ", "水"].map((piece, at) => ({
      ...said,
      id: `long${at}`,
      text: piece.repeat(Math.floor(200_000 / piece.length)),
      time: (2 + at) * 86_400_000,
    })),
  ]);
  await memory.flush();
  expect(memory.stats().embedded).toBe(9);
  expect((await memory.search("What animal do they have at home?", { limit: 1 }))[0]?.memory.id).toBe("pet");

  const [vector] = await embedder.embed(["alone"]);
  expect((await embedder.embed(["together", "alone"]))[1]).toEqual(vector);
  const answered = embedder.embed(["killed"]);
  process.kill(embedder.pid ?? 0, "SIGKILL");
  await expect(answered).rejects.toMatchObject({ passing: true });
  expect((await embedder.embed(["alone"]))[0]).toEqual(vector);
  await embedder.ended;
  expect(embedder.pid).toBeUndefined();

  await rm(join(model, weightsFile));
  await writeFile(join(model, weightsFile), "something else");
  await expect(embedder.embed(["alone"])).rejects.toThrow("is not the file that was installed");
});

test("a turn is told what fits by its meaning, without a word in common", async () => {
  const asked: string[] = [];
  await using model = await startOpenAiServer(({ lastText }) => {
    asked.push(lastText);
    return { text: "ok" };
  });
  const config = {
    models: {
      routes: { main: ["gpt/test-model"] },
      providers: { gpt: { kind: "openai", apiKey: modelKey, baseUrl: model.url } },
    },
    memory: { enabled: true, embeddings: "local", recallTokens: 100, extract: { everyMessages: 0 } },
  };
  await using host = await openEmbeddedHost(config);
  await linkModel(modelFolder(host.home));
  {
    await using embedder = new LocalEmbedder(cachedModelFolder());
    const path = join(host.home, "memory", "office.sqlite");
    await using memory = new GroupMemory({ path, weights, embedder });
    const said = { category: "conversation", sender: "Ann", origin: "member", sources: [] } as const;
    const day = 86_400_000;
    memory.add([{ ...said, id: "pet", text: "We got a kitten from the shelter", time: 0 }]);
    memory.add(
      Array.from({ length: 40 }, (_, at) => ({
        ...said,
        id: `n${at}`,
        text: `The quarterly budget number ${at} is due`,
        time: (at + 1) * day,
      })),
    );
    await memory.flush();
  }
  // The first turn may begin before the model is loaded, which takes longer than a turn waits.
  const ask = async (): Promise<string> => {
    const before = host.channel.heard("home").length;
    await host.channel.say("home", "what animal do they have at home?");
    await expect.poll(() => host.channel.heard("home").length).toBeGreaterThan(before);
    return asked.at(-1) ?? "";
  };
  await expect.poll(ask, { timeout: 120_000 }).toContain("kitten");
});
