import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";

import { expect, test } from "vitest";

import type { Embedder } from "../../../../src/abilities/memory/embedding/embedder.ts";
import { ProviderEmbedder } from "../../../../src/abilities/memory/embedding/provider-embedder.ts";
import { GroupMemory } from "../../../../src/abilities/memory/group-memory.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };
const texts = ["the red bicycle", "a green boat", "the yellow kite"];

type Answer = (count: number) => string;

function vectors(count: number, of: (place: number) => string): string {
  const data = Array.from({ length: count }, (_, place) => `{"index":${place},"embedding":${of(place)}}`);
  return `{"data":[${data.join(",")}]}`;
}

const poisoned: Readonly<Record<string, Answer>> = {
  "numbers that are none": (count) => vectors(count, () => "[NaN,NaN,NaN,NaN]"),
  "numbers too large to be some": (count) => vectors(count, () => "[1e999,0,0,0]"),
  "numbers whose squares are too large": (count) => vectors(count, (place) => `[1e308,1e308,${place},0]`),
  "numbers whose squares are too small": (count) => vectors(count, () => "[1e-300,0,0,0]"),
  "nothing in place of numbers": (count) => vectors(count, () => "[null,null,null,null]"),
  "words in place of numbers": (count) => vectors(count, () => '["1","0","0","0"]'),
  "vectors of another length": (count) => vectors(count, () => "[1,0]"),
  "too few vectors": () => vectors(1, () => "[1,0,0,0]"),
  "vectors of nobody": (count) => vectors(count, () => "[1,0,0,0]").replaceAll('"index":', '"index":9'),
  "the same place for all": (count) => vectors(count, () => "[1,0,0,0]").replaceAll(/"index":\d/g, '"index":0'),
  "something else": () => '{"data":{"__proto__":{"length":3}}}',
};

async function embeddingServer(answer: Answer) {
  const server = createServer((request, response) => {
    void json(request).then((body) => response.end(answer((body as { input: string[] }).input.length)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function remember(path: string, embedder: Embedder): Promise<GroupMemory> {
  const memory = new GroupMemory({ path, weights, embedder });
  memory.add(
    texts.map((text, at) => {
      const base = { id: `m${at}`, category: "core", sender: "Ann", origin: "member", sources: [] } as const;
      return { ...base, text, time: Date.parse("2026-01-01") + at * 86_400_000 };
    }),
  );
  await memory.flush().catch(() => undefined);
  return memory;
}

test.for(Object.entries(poisoned))(
  "a provider that answers with %s leaves memories to be found by their words",
  async ([, answer]) => {
    await using folder = await temporaryFolder();
    await using server = await embeddingServer(answer);
    const settings = { provider: "gpt", apiKey: "k", model: "small", dimensions: 4, retryMs: [] };
    await using embedder = new ProviderEmbedder({ ...settings, baseUrl: server.url });
    await using memory = await remember(join(folder.path, "office.sqlite"), embedder);

    for (const [at, text] of texts.entries()) {
      const found = await memory.search(text, { limit: 3 });
      expect(found[0]?.memory.id).toBe(`m${at}`);
      expect(found.map(({ score }) => score).filter((score) => !Number.isFinite(score))).toEqual([]);
    }
  },
);

/** Its answers are numbers already, as those of the local model are. */
function embedderOf(make: (count: number) => readonly Float32Array[]): Embedder {
  return {
    model: "spoilt",
    dimensions: 4,
    isEnglish: false,
    embed: async (given) => make(given.length),
    [Symbol.asyncDispose]: async () => {},
  };
}

const spoilt: Readonly<Record<string, (count: number) => readonly Float32Array[]>> = {
  "no numbers": (count) => Array.from({ length: count }, () => new Float32Array([Number.NaN, 0, 0, 0])),
  "no end": (count) => Array.from({ length: count }, () => new Float32Array([Infinity, 0, 0, 0])),
  "another length": (count) => Array.from({ length: count }, () => new Float32Array(3)),
  "too few vectors": (count) => Array.from({ length: count - 1 }, () => new Float32Array([1, 0, 0, 0])),
  "too many vectors": (count) => Array.from({ length: count + 1 }, () => new Float32Array([1, 0, 0, 0])),
};

test.for(Object.entries(spoilt))("a model that answers with %s gives no vectors, and spoils none", async ([, make]) => {
  await using folder = await temporaryFolder();
  await using memory = await remember(join(folder.path, "office.sqlite"), embedderOf(make));

  expect(memory.stats().embedded).toBe(0);
  const found = await memory.search("bicycle", { limit: 3 });
  expect(found.map(({ memory: { id } }) => id)[0]).toBe("m0");
  expect(found.every(({ score }) => Number.isFinite(score))).toBe(true);
});

test("one text that a model cannot do keeps only itself from having a vector", async () => {
  await using folder = await temporaryFolder();
  const embedder: Embedder = {
    ...embedderOf(() => []),
    embed: async (given) => given.map((text) => new Float32Array([text.includes("boat") ? Number.NaN : 1, 0, 0, 0])),
  };
  await using memory = await remember(join(folder.path, "office.sqlite"), embedder);

  expect(memory.stats().embedded).toBe(2);
  expect((await memory.search("boat", { limit: 1 }))[0]?.memory.id).toBe("m1");
});
