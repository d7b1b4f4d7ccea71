import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { installModel } from "../../../src/memory/embedding/install-model.ts";
import { LocalEmbedder } from "../../../src/memory/embedding/local-embedder.ts";
import { weightsFile } from "../../../src/memory/embedding/model-files.ts";
import { GroupMemory } from "../../../src/memory/group-memory.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };

/* One test, because the model is fetched for it: what it does, and what becomes of its process. */
test("the model is installed, finds what has no word in common, is replaced when it is killed, and ends when it is idle", async () => {
  await using folder = await temporaryFolder();
  const model = join(folder.path, "model");
  await installModel({ folder: model, variables: process.env });
  await using embedder = new LocalEmbedder(model, { idleMs: 500, answerMs: 60_000 });
  await using memory = new GroupMemory({ path: join(folder.path, "family.sqlite"), weights, embedder });
  const said = { category: "conversation", sender: "Ann", origin: "member", sources: [] } as const;
  memory.add([
    { ...said, id: "pet", text: "We got a kitten from the shelter", time: 0 },
    { ...said, id: "work", text: "The quarterly budget is due on Thursday", time: 86_400_000 },
    { ...said, id: "long", text: "a".repeat(1_000_000), time: 2 * 86_400_000 },
  ]);
  await memory.flush();
  expect(memory.stats().embedded).toBe(3);
  expect((await memory.search("What animal do they have at home?", { limit: 1 }))[0]?.memory.id).toBe("pet");

  const [vector] = await embedder.embed(["alone"]);
  expect((await embedder.embed(["together", "alone"]))[1]).toEqual(vector);
  const answered = embedder.embed(["killed"]);
  process.kill(embedder.pid ?? 0, "SIGKILL");
  await expect(answered).rejects.toMatchObject({ passing: true });
  expect((await embedder.embed(["alone"]))[0]).toEqual(vector);
  await embedder.ended;
  expect(embedder.pid).toBeUndefined();

  await writeFile(join(model, weightsFile), "something else");
  await expect(embedder.embed(["alone"])).rejects.toThrow("is not the file that was installed");
});
