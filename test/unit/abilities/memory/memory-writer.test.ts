import { join } from "node:path";

import pino from "pino";
import { afterAll, expect, test } from "vitest";

import { agentFolder, type Group, workFolder } from "../../../../src/domain/chats/group.ts";
import { MemoryFile } from "../../../../src/abilities/memory/file/memory-file.ts";
import { MemoryWriter } from "../../../../src/abilities/memory/keeping/memory-writer.ts";
import { MemoryClient } from "../../../../src/abilities/memory/thread/memory-client.ts";
import type { Store } from "../../../../src/stores/contract/store.ts";
import { draft, say, step } from "../../../contracts/store-setup.ts";
import { someGroup } from "../../../support/some-group.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { openStoreAt } from "../../../support/open-store-at.ts";
import { ofMember } from "../../../support/lineages.ts";

const place = { channel: "terminal", chat: "chat" };
const ofTwo = someGroup("family", { ...place, agent: "main", agents: ["main", "scout"] });

/** Its thread serves the memories of all tests: it takes longer to start than most of them take. */
const client = new MemoryClient({ place: "none", weights: { vector: 0.5, text: 0.5, neighbour: 0.3 } });
afterAll(() => client[Symbol.asyncDispose]());

/** Opens a group and the keeper, which can restart with other agents. */
async function openRig() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const store: Store = stack.use(await openStoreAt(join(folder.path, "store")));
  const pathOf = (name: string): string => join(folder.path, `${name}.sqlite`);
  const failed: string[] = [];
  const told: unknown[] = [];
  const keep = async (group: Group, isGone: (folder: string) => boolean = () => false): Promise<void> => {
    const agents = group.agents ?? [];
    const acting = agents.map((agent, index) => {
      const own = index === 0 ? undefined : agentFolder(group.name, agent);
      return { ...group, agent, acting: { name: agent, folder: own } };
    });
    const everyone = agents.length === 0 ? [group] : acting;
    const ended = everyone.map((one) => [workFolder(one), Promise.withResolvers<void>()] as const);
    const tell = (name: string): void => ended.find(([known]) => known === name)?.[1].resolve();
    await using keeper = new MemoryWriter({
      store,
      groups: () => [group],
      withEachAgent: () => everyone,
      memoryOf: (name) => (isGone(name) ? client.at("/dev/null/memory.sqlite") : client.at(pathOf(name))),
      roleOf: () => "member",
      agentNameOf: ({ agent = "main" }) => agent,
      idOf: (row) => row.replace(" ", "-"),
      kept: (one) => tell(workFolder(one)),
      faults: { failed: (name) => (failed.push(name), tell(name)), worked: () => undefined },
      publish: async ({ type, group: of, data }) => void told.push({ type, group: of, ...data }),
      logger: pino({ level: "silent" }),
    });
    keeper.all();
    await Promise.all(ended.map(([, { promise }]) => promise));
  };
  const owned = stack.move();
  return {
    store,
    keep,
    failed,
    told,
    kept: (name: string): string[] => {
      using file = MemoryFile.open(pathOf(name));
      return file
        .list({ limit: 100 })
        .map(({ text, sender }) => `${sender}: ${text}`)
        .toSorted();
    },
    /** For nobody where no agents are given. */
    hear: async (id: string, agents?: readonly string[]): Promise<number> => {
      const state = agents ? "waiting" : "context";
      return (await store.messages.insert(say(id, { text: id }), { group: "family", state, at: 10, agents })).seq;
    },
    /** An agent answers what it was asked. */
    answer: async (agent: string, text: string, message: number): Promise<void> => {
      const { id: session } = await store.sessions.open(`${agent}:terminal:chat`, "family");
      const turn = { id: text, session, group: "family", conversation: 1, cause: "message" as const, at: 20 };
      const first = step("asked", { messages: [message], cursor: message, lineage: ofMember });
      await store.turns.begin({ ...turn, replyTo: { kind: "chat", ...place } }, first);
      await store.turns.finish(text, { state: "done", at: 90, steps: [], outgoing: [draft(text, { turn: text })] });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("each of two agents remembers what was for it and its own answers; what was for nobody is the first one's", async () => {
  await using rig = await openRig();
  await rig.hear("nobody asked");
  await rig.answer("main", "main-answers", await rig.hear("to main", ["main"]));
  await rig.answer("scout", "scout-answers", await rig.hear("to scout", ["scout"]));
  await rig.hear("to both", ["scout", "main"]);
  await rig.keep(ofTwo);
  await rig.hear("to scout again", ["scout"]);
  await rig.keep(ofTwo);
  await rig.keep(ofTwo);

  expect(rig.kept("family")).toEqual(["Ann: nobody asked", "Ann: to both", "Ann: to main", "main: main-answers"]);
  expect(rig.kept("family@scout")).toEqual([
    "Ann: to both",
    "Ann: to scout",
    "Ann: to scout again",
    "scout: scout-answers",
  ]);
  expect(rig.told).toEqual([
    { type: "memory.kept", group: "family", count: 4 },
    { type: "memory.kept", group: "family", count: 3, agent: "scout" },
    { type: "memory.kept", group: "family", count: 1, agent: "scout" },
  ]);
});

test("an agent that is removed keeps its memory; what was for it and nobody kept becomes the first one's, once", async () => {
  await using rig = await openRig();
  await rig.hear("to scout", ["scout"]);
  await rig.keep(ofTwo);
  await rig.hear("later to scout", ["scout"]);
  await rig.hear("later to both", ["main", "scout"]);
  const three = { ...ofTwo, agents: ["main", "clerk"] };
  await rig.keep(three);
  await rig.keep(someGroup("family", place));

  expect(rig.kept("family")).toEqual(["Ann: later to both", "Ann: later to scout"]);
  expect(rig.kept("family@scout")).toEqual(["Ann: to scout"]);
  expect(rig.kept("family@clerk")).toEqual([]);
});

test("a group with one agent keeps everything once, as ever", async () => {
  await using rig = await openRig();
  const message = await rig.hear("to both", ["main", "scout"]);
  await rig.answer("scout", "answered", message);
  await rig.keep(someGroup("family", place));

  expect(rig.kept("family")).toEqual(["Ann: to both", "main: answered"]);
});

test("a memory that cannot be used is not in the way of the other agent's", async () => {
  await using rig = await openRig();
  await rig.hear("to both", ["main", "scout"]);
  await rig.keep(ofTwo, (name) => name === "family");

  expect(rig.failed).toEqual(["family"]);
  expect(rig.kept("family@scout")).toEqual(["Ann: to both"]);
});
