import { expect, test } from "vitest";

import { ShownLists } from "../../../../src/surfaces/chat/shown-lists.ts";
import { CodeTries } from "../../../../src/rights/people/code-tries.ts";
import { createChatCommands } from "../../../../src/surfaces/chat/chat-commands.ts";
import type { Role } from "../../../../src/domain/people/role.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";
import { createRoles } from "../../../../src/rights/people/roles.ts";
import type { OperationNeeds } from "../../../../src/surfaces/operations.ts";
import { byMessage, say, step } from "../../../contracts/store-setup.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";
import { ofMember } from "../../../support/lineages.ts";

const byKey: Readonly<Record<string, Role>> = { "terminal:ann": "admin", "terminal:guy": "guest" };
const people = [{ name: "ben", ids: ["terminal:ben", "terminal:ben-too"], role: undefined }];

/** Ann is an admin, Guy a guest, all others are members; Ben has two ids. */
async function openRig({ main = false } = {}) {
  const home = await openTestStore();
  const { store } = home;
  const refusals: string[] = [];
  const family = someGroup("family", { channel: "terminal", chat: "chat", main });
  const { id: session } = await store.sessions.open("main:terminal:chat", "family");
  const roles = createRoles({
    people: () => people,
    membersOf: () => ({ place: "groups.family.members", default: "member", byKey }),
    isOperatorOnly: () => false,
  });
  const run = createChatCommands({
    store,
    services: {
      agentNameOf: () => "crab",
      isAtWork: () => false,
      isCompactionAsked: () => false,
      publish: async () => undefined,
      memories: {
        isEnabled: () => false,
        list: async () => [],
        get: async () => undefined,
        forget: async () => false,
      },
      shownLists: new ShownLists(),
      operations: () => ({ store, groups: { settings: () => [family] }, people: roles }) as unknown as OperationNeeds,
      roles,
      sessions: { list: async () => [], mainOf: async () => ({ id: session }) },
      jobsOf: () => [],
      answers: {
        admit: async () => ({ text: "answered" }),
        isRequest: async () => true,
        forms: { read: () => undefined },
        approvalOf: async () => undefined,
        tries: new CodeTries(store.requests, () => systemClock.now()),
      },
      now: () => 0,
      nextHeartbeatOf: () => undefined,
      showTime: (time) => new Date(time).toISOString(),
    },
    approvals: { announce: async () => undefined, checkNow: () => undefined },
    forms: { fill: () => undefined },
    pool: { retire: async () => undefined },
    subAgents: { turnEnded: () => undefined },
    publish: async ({ type, data }) => void (type === "access.refused" && refusals.push(data.rule)),
    fingerprint: (text) => ({ sha256: "", chars: text.length }),
    turnEnded: async () => undefined,
    compactions: { resume: async () => undefined, stopped: async () => undefined },
    deliver: () => undefined,
    clock: systemClock,
  });
  let count = 0;
  const insert = async (by: string, placed: { state: "waiting" | "handled"; command?: string }): Promise<number> => {
    count += 1;
    const message = say(`${by}-${count}`, { sender: { id: by, name: "Ann" }, text: `words of ${by}` });
    return (await store.messages.insert(message, { group: "family", at: 2, ...placed })).seq;
  };
  return {
    store,
    refusals,
    /** Somebody says this and waits. */
    waits: (by: string) => insert(by, { state: "waiting" }),
    /** A turn runs that somebody asked for. */
    asks: async (by: string) => {
      const message = await insert(by, { state: "waiting" });
      const first = step("hello", { messages: [message], cursor: message, lineage: ofMember });
      await store.turns.begin({ id: "t", session, group: "family", conversation: 1, ...byMessage, at: 1 }, first);
    },
    give: async (by: string, command: string) => {
      await insert(by, { state: "handled", command });
      await run(family);
      return (await store.outbox.unsent(20)).at(-1)?.text;
    },
    turn: async () => (await store.turns.get("t"))?.state,
    waiting: async () => (await store.messages.waiting(family, 10)).map(({ sender }) => sender.id),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

const refusal = "Only the person who asked, or an admin, can stop what I am working on.";

test.for([
  ["whoever asked", "zoe", "zoe"],
  ["a guest who asked", "guy", "guy"],
  ["whoever asked, by another id", "ben", "ben-too"],
  ["an admin", "zoe", "ann"],
])("%s stops the turn, and what waits is dropped", async ([, asker, stopper]) => {
  await using rig = await openRig();
  await rig.asks(asker ?? "");
  await rig.waits("joe");

  const said = await rig.give(stopper ?? "", "stop");

  expect(said).toBe('Stopped by "Ann". The waiting message "words of joe" of "Ann" was dropped.');
  expect([await rig.turn(), await rig.waiting()]).toEqual(["cancelled", []]);
});

test("a member who did not ask learns why not, and only what waits from themselves is dropped", async () => {
  await using rig = await openRig();
  await rig.asks("zoe");
  await rig.waits("joe");
  await rig.waits("ben");

  const said = [await rig.give("ben-too", "stop"), await rig.give("ben", "stop")];

  expect(said).toEqual([`${refusal} The waiting message "words of ben" of "Ann" was dropped.`, refusal]);
  expect([await rig.turn(), await rig.waiting()]).toEqual(["running", ["joe"]]);
});

test("where no turn runs a member drops what waits from themselves", async () => {
  await using rig = await openRig();
  await rig.waits("joe");

  expect(await rig.give("ben", "stop")).toBe("There is nothing to stop.");
  expect(await rig.waiting()).toEqual(["joe"]);
});

test.for([
  ["new", "guy", "/new needs the role member, and you are a guest here. /whoami explains why."],
  ["approve", "guy", "/approve needs the role member, and you are a guest here. /whoami explains why."],
  ["deny", "guy", "/deny needs the role member, and you are a guest here. /whoami explains why."],
])("/%s of %s is refused with the reason, and has no effect", async ([command = "", by = "", said = ""]) => {
  await using rig = await openRig({ main: true });
  await rig.asks("zoe");

  expect(await rig.give(by, command)).toBe(said);
  expect(rig.refusals).toEqual([`/${command} needs member`]);
  expect(await rig.turn()).toBe("running");
});

test("a chat that asks to become a group is let in by an admin, not by a member", async () => {
  await using rig = await openRig({ main: true });

  expect(await rig.give("zoe", "approve")).toMatch(/^Add the code: \/approve CODE/);
  expect(await rig.give("ann", "approve")).toBe("answered");
});

test("/help and /whoami list what the asker may give", async () => {
  await using rig = await openRig({ main: true });

  const listed = async (by: string): Promise<string[]> =>
    ((await rig.give(by, "help")) ?? "").split("\n").flatMap((line) => /^\/(\w+)/.exec(line)?.[1] ?? []);

  expect(await listed("guy")).toEqual(["stop", "status", "agents", "whoami", "help"]);
  const ofMembers = [
    "stop",
    "new",
    "status",
    "usage",
    "context",
    "compact",
    "model",
    "tasks",
    "jobs",
    "agents",
    "mounts",
    "skills",
    "whoami",
    "help",
    "approve",
    "deny",
    "answer",
  ];
  expect(await listed("zoe")).toEqual(ofMembers);
  expect(await listed("ann")).toEqual([...ofMembers, "set", "settings"]);
  expect(await rig.give("ann", "whoami")).toBe(
    [
      'You are terminal:ann, called "Ann".',
      'You are an admin here: groups.family.members["terminal:ann"].',
      "You can ask me, and use /stop, /new, /status, /usage, /context, /compact, /model, /tasks, /jobs, /agents, /mounts, /skills, /whoami, /help, /approve, /deny, /answer, /set, /settings.",
    ].join("\n"),
  );
  expect(await rig.give("ben-too", "whoami")).toContain(
    'You are terminal:ben-too, called "Ann", known to me as ben.\nYou are a member here: groups.family.members.default.',
  );
});
