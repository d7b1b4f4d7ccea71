import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test, vi } from "vitest";

import { MemoryClient } from "../../src/abilities/memory/thread/memory-client.ts";
import { jsonLines } from "../support/crabpot.ts";
import { startWithoutContainers } from "../support/model-host.ts";
import { smallDisk } from "../support/small-disk.ts";
import type { NewMemory } from "../../src/processes/memory-schemas.ts";

// Several starts of the host, or many commands, in one test.
vi.setConfig({ testTimeout: 600_000 });

const memory = { enabled: true, embeddings: "none", extract: { everyMessages: 0 } };

test("with a damaged memory turns go on, it is said once, and reindex brings back what was said", async () => {
  const config = { memory };
  const groups = { family: { trigger: "always" } };
  await using running = await startWithoutContainers(() => ({ text: "ok" }), { groups, config });
  const { host } = running;
  const path = join(host.home, "memory", "family.sqlite");
  const list = async () => jsonLines((await host.cli("memory", "list", "--group", "family", "--json")).stdout);
  await host.ask("family", "the dog is called Rex");
  await host.cli("memory", "add", "Ann lives in Ghent", "--group", "family");
  await expect.poll(async () => (await list()).length, { interval: 500 }).toBe(3);
  await host.end("SIGTERM");
  await writeFile(path, "this is no database anymore, whatever it was before");
  await host.boot();

  for (const text of ["one", "two", "three"]) expect((await host.ask("family", text)).text).toBe("ok");
  expect(host.output.join("").split("cannot be used; its turns go on without").length - 1).toBe(1);
  const events = jsonLines(
    (await host.cli("events", "tail", "--after", "0", "--type", "memory.failed", "--json")).stdout,
  );
  expect(events).toHaveLength(1);
  const refused = await host.cli("memory", "reindex", "--group", "family");
  expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining("while a host runs")]);
  const doctor = await host.cli("doctor", "--json");
  expect(doctor.stdout).toContain("The memory of family is damaged");
  await host.end("SIGTERM");

  const repaired = jsonLines((await host.cli("memory", "reindex", "--group", "family", "--json")).stdout);
  expect(repaired).toMatchObject([{ items: 0, isFromStart: true }]);
  await host.boot();
  await expect
    .poll(async () => (await list()).map(({ text }) => text), { interval: 500 })
    .toContain("the dog is called Rex");
  expect((await list()).map(({ text }) => text)).toEqual(expect.arrayContaining(["one", "two", "three"]));
});

test("of a file with damaged pages what can be read is kept, and nothing is taken in twice", async () => {
  await using running = await startWithoutContainers(() => ({ text: "ok" }), {
    groups: { family: {} },
    config: { memory },
  });
  const { host } = running;
  await host.end("SIGTERM");
  const path = join(host.home, "memory", "family.sqlite");
  const lines = Array.from({ length: 2_000 }, (_, at) =>
    JSON.stringify({
      id: `m-${at}`,
      text: `number ${at} ${"words ".repeat(40)}`,
      time: "2026-01-01T00:00:00Z",
      sender: "Ann",
    }),
  );
  await writeFile(join(host.home, "all.jsonl"), lines.join("\n"));
  expect(await host.cli("memory", "import", join(host.home, "all.jsonl"), "--group", "family")).toMatchObject({
    code: 0,
  });
  const bytes = await readFile(path);
  bytes.fill(0xff, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 3 * 4_096);
  await writeFile(path, bytes);
  expect((await host.cli("doctor", "--json")).stdout).toContain("The memory of family is damaged");

  const [repaired] = jsonLines((await host.cli("memory", "reindex", "--group", "family", "--json")).stdout);

  expect(repaired).toMatchObject({ isFromStart: false });
  expect(Number(repaired?.["items"])).toBeGreaterThan(500);
  expect((await host.cli("doctor", "--json")).stdout).not.toContain("The memory of family is damaged");
  const found = await host.cli("memory", "search", "number 3", "--group", "family", "--json");
  expect(found.code).toBe(0);
});

function said(seq: number): NewMemory {
  return {
    id: `said-${seq}`,
    category: "conversation",
    text: `word${seq} `.repeat(500),
    time: Date.now() + seq,
    sender: "Ann",
    origin: "member",
    sources: [`m${seq}`],
  };
}

test("a disk that is full while something is kept loses nothing and keeps nothing twice", async () => {
  await using disk = await smallDisk(4);
  await using desk = new MemoryClient({ place: "none", weights: { vector: 0.5, text: 0.5, neighbour: 0.3 } });
  const at = desk.at(join(disk.path, "memory", "office.sqlite"));
  await at.advance([said(1)], { progress: { messages: 1 } });
  await disk.fill(0);

  const several = Array.from({ length: 50 }, (_, seq) => said(seq + 2));
  await expect(at.advance(several, { progress: { messages: 51 } })).rejects.toMatchObject({ passing: true });
  expect(await at.standing()).toMatchObject({ messages: 1, unextracted: 1 });
  await disk.free();
  await at.advance(several, { progress: { messages: 51 } });

  expect(await at.standing()).toMatchObject({ messages: 51, unextracted: 51 });
  expect((await at.search("word17", { limit: 1 }))[0]?.memory.id).toBe("said-17");
});
