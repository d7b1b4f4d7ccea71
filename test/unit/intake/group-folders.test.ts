import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { type Group, isGroupName } from "../../../src/domain/chats/group.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { createAutoRegister } from "../../../src/intake/chats/auto-register.ts";
import { GroupFolders } from "../../../src/intake/chats/group-folders.ts";
import { type GroupRegistry, openGroupRegistry } from "../../../src/intake/chats/group-registry.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { MemoryFile } from "../../../src/abilities/memory/file/memory-file.ts";
import { memoryPath } from "../../../src/abilities/memory/memory-path.ts";
import { hasMemories } from "../../../src/abilities/memory/offline.ts";
import { say } from "../../contracts/store-setup.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup, someStoredGroup } from "../../support/some-group.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Rig extends AsyncDisposable {
  readonly store: Store;
  readonly folders: GroupFolders;
  readonly place: string;
  /** Folder of memories. */
  readonly memory: string;
  readonly adopted: string[];
  /** Registry as at a start of the host. */
  registry(configured?: readonly Group[]): Promise<GroupRegistry>;
}

async function openRig(): Promise<Rig> {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const { path } = stack.use(await temporaryFolder());
  const place = await mkdtemp(join(path, "groups-"));
  const adopted: string[] = [];
  const folders = new GroupFolders({
    store: store.groups,

    exists: async (name) => existsSync(join(place, name)),
    make: async ({ name }) => void (await mkdir(join(place, name), { recursive: true })),
    hasMemories: (name) => hasMemories(join(path, "memory"), name),
    adopting: async ({ name, chat }, from) => void adopted.push(`${name}: ${from?.chat ?? "unknown"} to ${chat}`),
  });
  const owned = stack.move();
  return {
    store,
    folders,
    place,
    memory: join(path, "memory"),
    adopted,
    registry: (configured = []) =>
      openGroupRegistry({
        configured,
        store: store.groups,
        resolve: someStoredGroup,
        prepare: (group, adopt) => folders.take(group, adopt),
        isLost: (group) => folders.isLost(group),
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const family = someGroup("family", { channel: "whatsapp", chat: "1203@g.us" });
const stranger = someGroup("family", { channel: "http", chat: "lobby" });

test("the folder of a group that was removed does not come to another chat by its name", async () => {
  await using rig = await openRig();
  const registry = await rig.registry();
  await registry.add(family);
  await writeFile(join(rig.place, "family", "MEMORY.md"), "the code of the safe");
  await registry.remove("family");

  const taking = registry.add(stranger);

  await expect(taking).rejects.toMatchObject({
    code: "conflict",
    message:
      '"family" cannot be the name of this group: the folder and messages of this name belong to the chat "1203@g.us" on channel whatsapp.',
    fix: expect.stringContaining("--adopt") as string,
  });
  expect([registry.byName("family"), await rig.store.groups.list(), rig.adopted]).toEqual([undefined, [], []]);
  expect((await registry.add(family)).chat).toBe("1203@g.us");
  expect(rig.adopted).toEqual([]);
});

test("it is handed over when that is said, on record; from then on it is the new chat's", async () => {
  await using rig = await openRig();
  const registry = await rig.registry();
  await registry.add(family);
  await writeFile(join(rig.place, "family", "MEMORY.md"), "old");
  await registry.remove("family");

  await registry.add(stranger, { adopt: true });
  await registry.remove("family");
  await registry.add(stranger);
  await registry.remove("family");

  expect(rig.adopted).toEqual(["family: 1203@g.us to lobby"]);
  expect(await readFile(join(rig.place, "family", "MEMORY.md"), "utf8")).toBe("old");
  await expect(registry.add(family)).rejects.toMatchObject({ code: "conflict" });
});

test("a folder that somebody has put there, and messages without a folder, are another one's too", async () => {
  await using rig = await openRig();
  const registry = await rig.registry();
  await mkdir(join(rig.place, "copied"));
  await rig.store.messages.insert(say("1"), { group: "talked", state: "context", at: 1 });

  const adding = (name: string) => registry.add(someGroup(name));

  await expect(adding("copied")).rejects.toMatchObject({
    message: expect.stringContaining("not known which chat") as string,
  });
  await expect(adding("talked")).rejects.toMatchObject({
    message: expect.stringContaining('chat "chat" on channel terminal') as string,
  });
  await registry.add(someGroup("copied"), { adopt: true });
  expect(rig.adopted).toEqual(["copied: unknown to chat of copied"]);
  expect((await adding("fresh")).name).toBe("fresh");
});

test("config.yaml may name a folder that was prepared, and give one to another chat, which is told once", async () => {
  await using rig = await openRig();
  await mkdir(join(rig.place, "family"));

  const starts = [
    await rig.folders.takeConfigured(family),
    await rig.folders.takeConfigured(family),
    await rig.folders.takeConfigured(stranger),
    await rig.folders.takeConfigured(stranger),
  ];

  expect(starts).toMatchObject([undefined, undefined, { channel: "whatsapp", chat: "1203@g.us" }, undefined]);
  expect(rig.adopted).toEqual(["family: 1203@g.us to lobby"]);
});

test("a stored group whose folder has gone to another chat meanwhile is not served, and can be removed and added again", async () => {
  await using rig = await openRig();
  await (await rig.registry()).add(family);
  await rig.folders.takeConfigured(stranger);
  expect((await rig.registry([stranger])).shadowed).toMatchObject([{ chat: "1203@g.us" }]);

  const registry = await rig.registry();
  const served = [registry.byName("family"), registry.shadowed.length];
  await registry.remove("family");
  await expect(registry.add(family)).rejects.toMatchObject({ code: "conflict" });
  await registry.add(family, { adopt: true });

  expect(served).toEqual([undefined, 1]);
  expect((await rig.registry()).byName("family")?.chat).toBe("1203@g.us");
  expect(rig.adopted.at(-1)).toBe("family: lobby to 1203@g.us");
});

test("a name that somebody writes to never takes what another chat has left", async () => {
  await using rig = await openRig();
  const registry = await rig.registry();
  await registry.add(family);
  await registry.remove("family");
  const register = createAutoRegister({
    nameOf: async ({ channel, chat }) => (channel === "http" && isGroupName(chat) ? chat : undefined),
    registry,
    limits: { perDay: 10, total: 10 },
    store: rig.store,
    clock: systemClock,
    publish: async () => undefined,
  });

  const writing = register(say("1", { channel: "http", chat: "family" }));

  const refusal = await writing.catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    code: "conflict",
    httpStatus: 409,
    message: expect.stringContaining("--adopt") as string,
  });
  expect(String(refusal)).not.toContain("1203");
  expect(await register(say("2", { channel: "http", chat: "fresh" }))).toMatchObject({ name: "fresh" });
  expect(rig.adopted).toEqual([]);
});

test("two chats that want one name at the same moment: one gets it", async () => {
  await using rig = await openRig();
  const registry = await rig.registry();

  const added = await Promise.allSettled([registry.add(family), registry.add(stranger)]);

  expect(added.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await rig.store.groups.folder("family")).toMatchObject({ chat: "1203@g.us" });
});

test.for(["family", "family@owl"])(
  "what %s remembers of one chat does not come to another one with the folder",
  async (name) => {
    await using rig = await openRig();
    const registry = await rig.registry();
    await registry.add(family);
    await registry.remove("family");
    using memory = MemoryFile.open(memoryPath(rig.memory, name));
    const said = { category: "conversation", sender: "Ann", origin: "member", time: 0, sources: [] } as const;
    memory.put([{ ...said, id: "one", text: "the word is SNORKEL" }]);

    await expect(registry.add(stranger, { adopt: true })).rejects.toMatchObject({
      code: "conflict",
      message: 'The folder of "family" cannot be handed over: its memory holds what was said in the other chat.',
    });
    expect(rig.adopted).toEqual([]);
    memory.clear();
    await registry.add(stranger, { adopt: true });
    expect(rig.adopted).toEqual(["family: 1203@g.us to lobby"]);
  },
);
