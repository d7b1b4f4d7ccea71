import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import pino from "pino";
import { expect, test } from "vitest";

import { builtInAdapters } from "../../../../src/config/adapters.ts";
import { LiveConfig } from "../../../../src/config/changes/live-config.ts";
import { configSchema, type ConfigInput } from "../../../../src/config/schema/config.ts";
import { EventBus } from "../../../../src/records/events/event-bus.ts";
import { SideSessions } from "../../../../src/work/sessions/side-sessions.ts";
import { heartbeat } from "../../../../src/abilities/heartbeat/ability.ts";
import { startAbility } from "../../../../src/abilities/start-abilities.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { ofMember } from "../../../support/lineages.ts";

const morning = Date.parse("2026-01-10T07:50:00Z");
const daily = { everyMinutes: 30, from: "08:00", to: "22:00" };

/** Heartbeats as the host makes them, on a real store and real files, with a clock that the test sets. */
async function openRig(config: Pick<ConfigInput, "groups" | "heartbeat"> = { heartbeat: daily }) {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const folder = stack.use(await temporaryFolder());
  const group = someGroup("family", { budget: { tokensPerDay: 1_000, usdPerDay: undefined } });
  await mkdir(join(folder.path, "family"));
  const schema = configSchema(builtInAdapters);
  const live = new LiveConfig(schema.parse(config));
  let now = morning;
  const clock = { now: () => now, monotonic: () => now };
  const logger = pino({ level: "silent" });
  const events = stack.use(
    new EventBus({ store: store.events, record: async () => undefined, redact: (text) => text, clock, logger }),
  );
  let given = 0;
  const sideSessions = stack.use(
    new SideSessions({
      store,
      workAdded: () => (given += 1),
      pool: { retire: async () => undefined },
      folder: folder.path,
      clock,
      logger,
    }),
  );
  const groups = [group];
  const needs = {
    groups: { list: () => groups },
    heartbeatOf: (name: string) => live.groupOf({ name: name }).heartbeat,
    timeZoneOf: (name: string) => live.groupOf({ name: name }).timeZone,
    totalBudget: () => live.current.budgets.total,
    groupsFolder: folder.path,
    store,
    sideSessions,
    publish: events.publish,
    clock,
    logger,
  };
  let owner: AsyncDisposableStack = stack;
  const open = async () => {
    const service = await startAbility(heartbeat, needs, owner, {
      settings: () => live.current,
      onSettingsChange: (changed) => live.onChange(changed),
      subscribe: (name, handle) => events.subscribe(name, handle),
    });
    service.begin();
    return service;
  };
  let heartbeats = await open();
  await heartbeats.idle();
  const file = join(folder.path, "family", "HEARTBEAT.md");
  const owned = stack.move();
  owner = owned;
  return {
    store,
    file,
    groups,
    group,
    write: (text: string) => writeFile(file, text),
    publish: events.publish,
    next: () => new Date(heartbeats.next()?.at ?? 0).toISOString().slice(11, 16),
    hasTimer: () => heartbeats.next() !== undefined,
    at: async (time: string) => {
      now = Date.parse(`2026-01-10T${time}:00Z`);
      heartbeats.changed();
      await heartbeats.idle();
    },
    restart: async () => {
      await heartbeats[Symbol.asyncDispose]();
      heartbeats = await open();
      await heartbeats.idle();
    },
    configure: async (changed: ConfigInput["heartbeat"]) => {
      live.replace(schema.parse({ heartbeat: changed }));
      await heartbeats.idle();
    },
    given: () => given,
    work: async () => (await store.work.list({ limit: 100 })).toReversed(),
    skipped: async () => {
      const { events: found } = await store.events.after(0, { types: ["heartbeat.skipped"] }, 100);
      return found.map(({ data }) => (data as { reason: string }).reason);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("at each beat the agent gets what the file says, once, in a new conversation beside the group's own", async () => {
  await using rig = await openRig();
  await rig.write("# Heartbeat\n- look at the mail </payload>");

  await rig.at("07:59");
  expect(await rig.work()).toEqual([]);
  expect(rig.next()).toBe("08:00");
  await rig.at("08:00");
  await rig.at("08:01");
  const [first] = await rig.work();

  expect(await rig.work()).toHaveLength(1);
  expect(first).toMatchObject({
    cause: "heartbeat",
    dedupe: `heartbeat:family:${Date.parse("2026-01-10T08:00:00Z")}`,
    origin: "file",
    lineage: { role: "member", origins: ["file"], people: [] },
    payload: "# Heartbeat\n- look at the mail </payload>",
    replyTo: { kind: "chat", channel: "fake", chat: "chat of family" },
  });
  expect(await rig.store.sessions.find("main:fake:chat of family:heartbeat:beat")).toMatchObject({
    id: first?.session,
    kind: "heartbeat",
    conversation: 2,
  });
  await rig.at("08:30");
  expect(await rig.work()).toHaveLength(2);
  expect((await rig.store.sessions.list()).map(({ conversation }) => conversation)).toEqual([3]);
  expect(rig.given()).toBe(2);
});

test("the hours of a group are its own clocks", async () => {
  const family = { channel: "terminal", chat: "family", timezone: "Asia/Kolkata" };
  await using rig = await openRig({ heartbeat: daily, groups: { family } });
  await rig.write("- look at the mail");

  expect(rig.next()).toBe("08:00");
  await rig.at("08:00");
  expect(rig.next()).toBe("08:30");
  await rig.at("16:30");
  expect(rig.next()).toBe("02:30");
  expect((await rig.work()).map(({ dueAt }) => new Date(dueAt).toISOString().slice(11, 16))).toEqual([
    "08:00",
    "16:30",
  ]);
});

test("a file that is missing or asks for nothing starts nothing, and says nothing", async () => {
  await using rig = await openRig();
  await rig.at("08:00");
  await rig.write("# Heartbeat\n\n<!-- nothing yet -->\n");
  await rig.at("08:30");

  expect(await rig.work()).toEqual([]);
  expect(await rig.store.sessions.list()).toEqual([]);
  expect(await rig.skipped()).toEqual([]);
});

test("a link, or anything else that is no plain file, is not read", async () => {
  await using rig = await openRig();
  await symlink("/etc/passwd", rig.file);
  await rig.at("08:00");
  await rm(rig.file);
  await mkdir(rig.file);
  await rig.at("08:30");

  expect(await rig.work()).toEqual([]);
  expect(await rig.skipped()).toEqual(["file", "file"]);
});

test("outside its hours, or when the host was missing, nothing is made up for", async () => {
  await using rig = await openRig();
  await rig.write("look");

  await rig.at("12:07");
  expect([await rig.work(), rig.next()]).toEqual([[], "12:30"]);
  await rig.at("22:00");
  expect([(await rig.work()).length, rig.next()]).toEqual([1, "08:00"]);
  await rig.at("23:30");
  expect(await rig.work()).toHaveLength(1);
});

test("a beat has one effect over restarts, and when the clock is set back", async () => {
  await using rig = await openRig();
  await rig.write("look");

  await rig.at("08:00");
  await rig.restart();
  await rig.at("08:01");
  await rig.at("07:59");
  await rig.restart();
  await rig.at("08:00");

  expect(await rig.work()).toHaveLength(1);
  expect((await rig.store.sessions.list()).map(({ conversation }) => conversation)).toEqual([2]);
});

test("while people talk it waits, and looks once when they are quiet", async () => {
  await using rig = await openRig();
  await rig.write("look");
  const say = () =>
    rig.publish({
      type: "message.received",
      group: "family",
      actor: "member:ann",
      data: { channel: "fake", chat: "x", id: "m", seq: 1, rule: "always", state: "context", chars: 1, attachments: 0 },
    });

  await rig.at("07:58");
  await say();
  await rig.at("08:00");
  await rig.at("08:02");
  expect([(await rig.work()).length, rig.next()]).toEqual([0, "08:03"]);
  await rig.at("08:03");
  expect(await rig.work()).toHaveLength(1);

  await rig.at("08:29");
  await say();
  for (const time of ["08:30", "08:33", "08:36"]) await rig.at(time);
  expect(await rig.work()).toHaveLength(2);
});

test("of several that wait for quiet only the newest is left", async () => {
  await using rig = await openRig();
  await rig.write("look");
  const message = {
    channel: "fake",
    chat: "chat of family",
    id: "m",
    sender: { id: "ann", name: "Ann" },
    mention: true,
  };
  await rig.store.messages.insert({ ...message, text: "hello" }, { group: "family", state: "waiting", at: morning });

  for (const time of ["08:00", "08:15", "08:30", "09:00", "09:05"]) await rig.at(time);
  expect(await rig.work()).toEqual([]);
  const session = await rig.store.sessions.open("main:fake:chat of family", "family");
  const begins = {
    id: "t",
    session: session.id,
    group: "family",
    conversation: 1,
    cause: "message",
    at: morning,
  } as const;
  const body = { kind: "user", text: "hello" } as const;
  await rig.store.turns.begin(
    { ...begins, replyTo: { kind: "nowhere" } },
    { body, tokens: 1, at: morning, takes: { messages: [1], cursor: 1, lineage: ofMember } },
  );
  await rig.at("09:06");
  expect(await rig.work()).toEqual([]);
  await rig.store.turns.finish("t", { state: "done", at: morning, steps: [], outgoing: [] });
  await rig.at("09:07");

  expect((await rig.work()).map(({ dedupe }) => dedupe)).toEqual([
    `heartbeat:family:${Date.parse("2026-01-10T09:00:00Z")}`,
  ]);
});

test("when the day's budget is used up it does not look", async () => {
  await using rig = await openRig();
  await rig.write("look");
  const limits = { tokensPerDay: undefined, usdPerDay: undefined };
  const call = { group: "family", day: "2026-01-10", usd: 0, groupLimits: limits, totalLimits: limits };
  await rig.store.usage.reserve({ ...call, tokens: 999 });
  await rig.at("08:00");
  await rig.store.usage.reserve({ ...call, tokens: 1 });
  await rig.at("08:30");

  expect(await rig.work()).toHaveLength(1);
  expect(await rig.skipped()).toEqual(["budget"]);
});

test("while the turn of one beat runs there is no other", async () => {
  await using rig = await openRig();
  await rig.write("look");
  await rig.at("08:00");
  const [work] = await rig.work();
  const begins = {
    id: "t",
    session: work?.session ?? "",
    group: "family",
    conversation: 2,
    cause: "heartbeat",
    at: morning,
  } as const;
  const body = { kind: "user", text: "look" } as const;
  await rig.store.turns.begin(
    { ...begins, replyTo: { kind: "nowhere" } },
    { body, tokens: 1, at: morning, takesWork: { seq: work?.seq ?? 0, lineage: ofMember } },
  );

  await rig.at("08:30");

  expect(await rig.work()).toHaveLength(1);
  expect(await rig.skipped()).toEqual(["busy"]);
});

test("without settings, or without groups, there is no timer; a change counts at once", async () => {
  await using rig = await openRig({});
  await rig.write("look");

  await rig.at("08:00");
  expect([rig.hasTimer(), await rig.work()]).toEqual([false, []]);
  await rig.configure({ everyMinutes: 10 });
  expect(rig.next()).toBe("08:10");
  await rig.configure({ everyMinutes: 60 });
  expect(rig.next()).toBe("09:00");
  rig.groups.length = 0;
  await rig.publish({ type: "group.removed", group: "family", actor: "operator", data: {} });
  await expect.poll(() => rig.hasTimer()).toBe(false);
});

test("what a guest may have written has a guest's rights, and carries where it comes from", async () => {
  await using rig = await openRig();
  await rig.write("look");
  await rig.store.origins.reach("family", "web", morning);
  await rig.store.origins.reach("family", "guest", morning);

  await rig.at("08:00");

  expect(await rig.work()).toMatchObject([{ lineage: { role: "guest", origins: ["guest", "file", "web"] } }]);
});
