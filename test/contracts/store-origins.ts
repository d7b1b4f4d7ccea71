import { expect, test } from "vitest";

import type { Exposure, Origin } from "../../src/domain/people/origin.ts";
import { unknownLineage } from "../../src/domain/rights/lineage.ts";
import type { Store } from "../../src/stores/contract/store.ts";
import { byMessage, type OpenStore, restartableStore, say, step } from "./store-setup.ts";
import { lineageOf, ofMember } from "../support/lineages.ts";

function exposure(
  origins: readonly Origin[],
  folder: "reads" | "writes" | "none" = "none",
  group = "family",
): Exposure {
  return { origins, folders: folder === "none" ? [] : [group], writesFolder: folder === "writes" };
}

/** A turn that begins in the group's session of this name, with these words. */
async function begin(
  store: Store,
  id: string,
  origins: readonly Origin[],
  { session: key = "main", group = "family", conversation = 1 } = {},
): Promise<string> {
  const { id: session } = await store.sessions.open(`agent:terminal:${group}:${key}`, group);
  const turn = { id, session, group, conversation, ...byMessage, at: 20 };
  const takes = { messages: [], cursor: 0, lineage: { ...ofMember, origins: [] } };
  await store.turns.begin(turn, { ...step("hello", takes), exposure: exposure(origins) });
  return session;
}

async function add(store: Store, turn: string, added: Exposure): Promise<void> {
  await store.turns.addStep(turn, { ...step("more"), exposure: added });
}

async function end(store: Store, turn: string): Promise<void> {
  await store.turns.finish(turn, { state: "done", at: 30, steps: [], outgoing: [] });
}

async function readBy(store: Store, turn: string): Promise<readonly Origin[]> {
  return (await store.origins.lineage(turn)).origins;
}

const carried = async (store: Store, group = "family"): Promise<Origin[]> =>
  (await store.origins.ofFolder(group)).map(({ origin }) => origin);

/** Contract for origins of turns, and where they go. */
export function testOrigins(open: OpenStore): void {
  test("a turn knows who speaks in it, each once, also those who came while it worked, and what work it was begun for", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await begin(store, "one", ["member"]);
    const said = async (id: string, sender: string): Promise<number> => {
      const message = say(id, { sender: { id: sender, name: "A name" } });
      return (await store.messages.insert(message, { group: "family", state: "waiting", at: 20 })).seq;
    };
    for (const [id, sender] of [
      ["1", "ann"],
      ["2", "bob"],
      ["3", "ann"],
    ] as const) {
      const seq = await said(id, sender);
      await store.turns.addStep(
        "one",
        step("more", { messages: [seq], cursor: seq, lineage: lineageOf("member", `terminal:${sender}`) }),
      );
    }
    await end(store, "one");
    const session = (await store.turns.get("one"))?.session ?? "";
    const work = {
      id: "w",
      session,
      group: "family",
      cause: "webhook",
      dueAt: 20,
      replyTo: { kind: "nowhere" },
    } as const;
    await store.work.add({ ...work, origin: "web", lineage: lineageOf("admin", "http:cy"), text: "" }, 20);
    const due = await store.work.due(session, 30);
    await store.turns.begin(
      { id: "two", session, group: "family", conversation: 1, cause: "webhook", replyTo: work.replyTo, at: 30 },
      { ...step("do it"), takesWork: { seq: due?.seq ?? 0, lineage: ofMember } },
    );

    const three = { id: "three", session, group: "family", conversation: 2, ...byMessage, at: 40 };
    await store.turns.begin(three, step("x"));

    expect(await store.origins.lineage("one")).toEqual({
      role: "member",
      origins: ["member"],
      people: ["terminal:ann", "terminal:bob"],
      narrowed: [],
    });
    expect(await store.origins.lineage("two")).toMatchObject({ role: "member", people: ["http:cy"] });
    expect(await store.origins.lineage("three")).toEqual(unknownLineage);
  });

  test("a turn has the origins of its words and of the turns before it in its conversation, also after a restart", async () => {
    await using home = await restartableStore(open);
    await begin(home.store, "one", ["member"]);
    await add(home.store, "one", exposure(["web", "admin"]));
    await end(home.store, "one");

    const store = await home.restart();
    await begin(store, "two", ["owner"]);
    await begin(store, "beside", ["guest"], { session: "task" });

    expect(await readBy(store, "two")).toEqual(["owner", "admin", "member", "web"]);
    expect((await store.turns.get("two"))?.lineage.origins).toEqual(["owner", "admin", "member", "web"]);
    expect(await readBy(store, "beside")).toEqual(["guest"]);
    await expect(store.origins.lineage("none")).rejects.toMatchObject({ code: "not_found" });
  });

  test("a new conversation has read nothing, until it reads from the folder what an earlier one left there", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await begin(store, "one", ["member"]);
    await add(store, "one", exposure(["web"], "writes"));
    await end(store, "one");

    await begin(store, "two", ["owner"], { conversation: 2 });
    const before = await readBy(store, "two");
    await add(store, "two", exposure([], "reads"));

    expect(before).toEqual(["owner"]);
    expect(await readBy(store, "two")).toEqual(["owner", "member", "web"]);
    expect(await store.origins.ofFolder("family")).toEqual([
      { origin: "member", since: expect.any(Number), turn: "one" },
      { origin: "web", since: expect.any(Number), turn: "one" },
    ]);
    expect(await carried(store, "work")).toEqual([]);
  });

  test("what a turn reads of another session is noted of it, once, and a session has the origins of its newest turn", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const other = await begin(store, "other", ["guest"], { session: "task" });
    await add(store, "other", exposure(["web"]));
    await begin(store, "reader", ["owner"]);

    const read = await store.origins.ofSession(other);
    await store.origins.note("reader", ["agent", ...read]);
    await store.origins.note("reader", ["agent", ...read]);
    await home.restart();

    expect(read).toEqual(["guest", "web"]);
    expect((await home.store.origins.lineage("reader")).origins).toEqual(["owner", "guest", "web", "agent"]);
    expect((await home.store.origins.lineage("other")).origins).toEqual(["guest", "web"]);
    expect(await home.store.origins.ofSession("none")).toEqual([]);
    await expect(home.store.origins.note("none", ["web"])).rejects.toThrow("There is no turn none");
  });

  test("a prompt with words from the folder lets its turn read what the folder carries, and one without does not", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await begin(store, "one", ["member"]);
    await add(store, "one", exposure(["web"], "writes"));
    await end(store, "one");
    const session = await begin(store, "two", ["owner"], { conversation: 2 });
    const told = { agentName: "", timeZone: "UTC", instructions: "", title: "", members: [], folders: [], network: [] };
    const prompt = { conversation: 2, system: ["a"], told };

    await store.sessions.setPrompt(session, prompt, { turn: "two", origins: [], folders: [] });
    const without = await readBy(store, "two");
    const ofFolder = { origins: [], folders: ["family"] } as const;
    const unknown = store.sessions.setPrompt(session, { ...prompt, system: ["b"] }, { turn: "none", ...ofFolder });
    await expect(unknown).rejects.toMatchObject({ code: "not_found" });
    const kept = await store.sessions.prompt(session);
    await store.sessions.setPrompt(session, prompt, { turn: "two", ...ofFolder });
    await store.origins.clearFolder("family", undefined);

    expect(without).toEqual(["owner"]);
    expect(kept).toMatchObject({ system: ["a"] });
    expect(await readBy(store, "two")).toEqual(["owner", "member", "web"]);
    // It says what it said, whatever becomes of the folder.
    expect(await store.sessions.prompt(session)).toMatchObject({ origins: ["member", "web"] });
  });

  test("reading alone leaves nothing in the folder, and writing leaves all that the turn has read by then", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await begin(store, "one", ["member"]);

    await add(store, "one", exposure(["mcp"], "reads"));
    const afterReading = await carried(store);
    await add(store, "one", exposure([], "writes"));

    expect(afterReading).toEqual([]);
    expect(await carried(store)).toEqual(["member", "mcp"]);
  });

  test("what another group's folder carries is read where both share a folder, and left in the own one by writing", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await begin(store, "theirs", ["guest"], { group: "work" });
    await add(store, "theirs", exposure(["web"], "writes", "work"));
    await begin(store, "ours", ["member"]);

    await add(store, "ours", { ...exposure([], "writes"), folders: ["family", "work", "nobody"] });

    expect(await readBy(store, "ours")).toEqual(["member", "guest", "web"]);
    expect(await carried(store)).toEqual(["member", "guest", "web"]);
    expect(await carried(store, "work")).toEqual(["guest", "web"]);
  });

  test("what reaches a group is noted of its folder and of the newest turn of each session, also one that has ended", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await begin(store, "old", ["member"]);
    await end(store, "old");
    await begin(store, "ended", ["member"]);
    await end(store, "ended");
    await begin(store, "running", ["member"], { session: "task" });
    await begin(store, "foreign", ["member"], { group: "work" });

    await store.origins.reach("family", "web", 50);
    await store.origins.reach("family", "web", 60);
    await begin(store, "next", ["owner"]);

    const read = await Promise.all(["old", "ended", "running", "foreign", "next"].map((id) => readBy(store, id)));
    expect(read.map((origins) => origins.includes("web"))).toEqual([false, true, true, false, true]);
    expect(await store.origins.ofFolder("family")).toEqual([{ origin: "web", since: 50, turn: undefined }]);
    expect(await carried(store, "work")).toEqual([]);
  });

  test("a file that comes with a message is in the folder; one that could not be fetched is not", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const file = { path: "/workspace/group/inbox/a.pdf", mimeType: "application/pdf", bytes: 3 };
    const sent = {
      channel: "terminal",
      chat: "chat",
      id: "m",
      sender: { id: "s", name: "S" },
      text: "",
      mention: true,
    };
    const placed = { state: "waiting", at: 10 } as const;

    await store.messages.insert(sent, {
      ...placed,
      group: "work",
      attachments: [{ kind: "document", failure: "too large" }],
    });
    await store.messages.insert(
      { ...sent, id: "n" },
      { ...placed, group: "family", attachments: [{ kind: "document", file }] },
    );

    expect(await carried(store, "work")).toEqual([]);
    expect(await carried(store)).toEqual(["file"]);
  });

  test("the operator clears one origin or all; turns keep theirs", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    await begin(store, "one", ["member"]);
    await add(store, "one", exposure(["web", "file"], "writes"));

    expect(await store.origins.clearFolder("family", "web")).toEqual(["web"]);
    expect(await store.origins.clearFolder("family", "web")).toEqual([]);
    expect(await carried(store)).toEqual(["member", "file"]);
    expect(await store.origins.clearFolder("family", undefined)).toEqual(["member", "file"]);
    expect(await carried(store)).toEqual([]);
    expect(await readBy(store, "one")).toEqual(["member", "file", "web"]);
  });

  test("an answer that goes to another session as work brings along what its turn has read", async () => {
    await using home = await restartableStore(open);
    const { store } = home;
    const parent = await begin(store, "parent", ["member"]);
    await begin(store, "child", ["agent"], { session: "agent" });
    await store.origins.reach("family", "web", 25);
    const work = {
      id: "agent:child",
      group: "family",
      session: parent,
      cause: "agent",
      dueAt: 30,
      replyTo: { kind: "nowhere" },
      origin: "agent",
      text: "done",
    } as const;

    await store.turns.finish("child", { state: "done", at: 30, steps: [], outgoing: [], work: [work] });

    expect((await store.work.get("agent:child"))?.lineage.origins).toEqual(["web", "agent"]);
  });
}
