import { existsSync } from "node:fs";
import { join } from "node:path";

import pino from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";

import type { NewEvent } from "../../../src/domain/events/event.ts";
import { createGatewayServer } from "../../../src/surfaces/http/server.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { MemoryFile } from "../../../src/abilities/memory/file/memory-file.ts";
import type { MemoryServiceNeeds } from "../../../src/abilities/memory/memory-needs.ts";
import { MemoryService } from "../../../src/abilities/memory/memory-service.ts";
import type { OperationNeeds } from "../../../src/surfaces/operations.ts";
import { addRestRoutes } from "../../../src/surfaces/http/operation-routes.ts";
import { builtInAdapters } from "../../../src/config/adapters.ts";
import { configSchema } from "../../../src/config/schema/config.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const token = "0123456789abcdef0123456789abcdef";

async function openRig() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const published: NewEvent[] = [];
  const pathOf = (group: string): string => join(folder.path, `${group}.sqlite`);
  // All that these operations need while groups remember nothing new.
  const needs = {
    paths: { root: folder.path, memory: folder.path },
    groups: { list: () => [] },
    publish: async (event: NewEvent): Promise<void> => void published.push(event),
    logger: pino({ level: "silent" }),
  } as unknown as MemoryServiceNeeds;
  const { memory: settings } = configSchema(builtInAdapters).parse({ memory: { embeddings: "none" } });
  const memory = stack.use(new MemoryService(needs, () => settings));
  const server = stack.use(
    createGatewayServer({
      host: "127.0.0.1",
      port: 0,
      token,
      ready: async () => ({ ready: true, reasons: [] }),
      metrics: new Registry(),
      clock: systemClock,
      logger: pino({ level: "silent" }),
    }),
  );
  const groups = { list: () => [{ name: "family", agent: "main", agents: ["main", "scout"] }, { name: "club" }] };
  addRestRoutes(server.routes, {
    // All that these operations work with.
    needs: () => ({ groups, memory }) as unknown as OperationNeeds,
    publish: () => Promise.resolve(),
    version: "test",
    streams: { onFault: () => undefined },
  });
  const { port } = await server.listen();
  const owned = stack.move();
  return {
    published,
    pathOf,
    ask: async (method: string, path: string, key = token): Promise<{ status: number; body: unknown }> => {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(`http://127.0.0.1:${port}/v1/memory/${path}`, { method, headers });
      return { status: answer.status, body: await answer.json() };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("memories are listed, searched, shown and forgotten over HTTP as the command line prints them", async () => {
  await using rig = await openRig();
  {
    using file = MemoryFile.open(rig.pathOf("family"));
    const made = {
      time: Date.parse("2026-01-15T12:00:00Z"),
      sender: "Ann",
      origin: "member",
      people: ["fake:ann"],
    } as const;
    file.put([
      { ...made, id: "a", category: "core", text: "Ann has a boat", sources: ["m1"] },
      { ...made, id: "b", category: "conversation", text: "I like tea", sources: ["m2"] },
    ]);
  }
  const boat = {
    id: "a",
    category: "core",
    text: "Ann has a boat",
    time: "2026-01-15T12:00:00.000Z",
    sender: "Ann",
    origin: "member",
  };

  const list = await rig.ask("GET", "family?category=core");
  const found = await rig.ask("GET", "family?query=boats&limit=1");
  const shown = await rig.ask("GET", "family/a");
  const gone = await rig.ask("DELETE", "family/a");
  const again = await rig.ask("DELETE", "family/a");

  expect(list).toEqual({ status: 200, body: { memories: [boat] } });
  expect(found).toEqual({ status: 200, body: { memories: [{ ...boat, score: 1.6 }] } });
  expect(shown).toEqual({ status: 200, body: { ...boat, sources: ["m1"] } });
  expect(gone).toEqual({ status: 200, body: { forgotten: "a" } });
  expect(again).toEqual({
    status: 404,
    body: { error: { code: "not_found", message: 'Group family has no memory "a".' } },
  });
  expect(rig.published).toMatchObject([
    { type: "memory.forgotten", group: "family", actor: "address:127.0.0.1", data: { ids: ["a"], why: "gateway" } },
  ]);
  // A group that remembers nothing stays without a file.
  expect(await rig.ask("GET", "club?query=boats")).toEqual({ status: 200, body: { memories: [] } });
  expect(existsSync(rig.pathOf("club"))).toBe(false);
});

test("of several agents one is named, and only it has something forgotten", async () => {
  await using rig = await openRig();
  const made = { id: "a", category: "core", time: 0, sender: "", origin: "owner", sources: [] } as const;
  for (const [name, text] of [
    ["family", "of the first"],
    ["family@scout", "of the other"],
  ] as const) {
    using file = MemoryFile.open(rig.pathOf(name));
    file.put([{ ...made, text }]);
  }

  expect(await rig.ask("GET", "family?agent=main")).toMatchObject({ body: { memories: [{ text: "of the first" }] } });
  expect(await rig.ask("GET", "family?agent=scout")).toMatchObject({ body: { memories: [{ text: "of the other" }] } });
  expect(await rig.ask("GET", "family/a?agent=scout")).toMatchObject({ body: { text: "of the other" } });
  expect(await rig.ask("DELETE", "family/a?agent=scout")).toMatchObject({ status: 200 });
  expect(await rig.ask("GET", "family/a?agent=scout")).toMatchObject({ status: 404 });
  expect(await rig.ask("GET", "family/a")).toMatchObject({ body: { text: "of the first" } });
  expect(await rig.ask("GET", "family?agent=clerk")).toMatchObject({
    status: 404,
    body: { error: { message: 'Group family has no agent "clerk"; it has main, scout.' } },
  });
  expect(rig.published).toMatchObject([{ type: "memory.forgotten", group: "family" }]);
});

test("who asks wrongly is told what is wrong", async () => {
  await using rig = await openRig();
  const codeOf = async (path: string, key?: string): Promise<unknown[]> => {
    const { status, body } = await rig.ask("GET", path, key);
    const { error } = body as { error: { code: string; path?: string } };
    return [status, error.code, error.path];
  };

  expect(await codeOf("nobody")).toEqual([404, "not_found", undefined]);
  expect(await codeOf("family/..%2Fclub")).toEqual([404, "not_found", undefined]);
  expect(await codeOf("family?limit=0")).toEqual([400, "bad_input", "limit"]);
  expect(await codeOf("family?limit=1e9")).toEqual([400, "bad_input", "limit"]);
  expect(await codeOf("family?colour=red")).toEqual([400, "bad_input", ""]);
  expect(await codeOf("family?query=x&category=core")).toEqual([400, "bad_input", "category"]);
  expect(await codeOf("family", "wrong")).toEqual([401, "unauthorized", undefined]);
});
