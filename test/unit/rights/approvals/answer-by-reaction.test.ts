import { pino } from "pino";
import { expect, test } from "vitest";

import { createAnswerByReaction } from "../../../../src/rights/approvals/answer-by-reaction.ts";
import { ApprovalService } from "../../../../src/rights/approvals/approval-service.ts";
import type { NewApproval } from "../../../../src/domain/rights/approval.ts";
import type { IncomingReaction } from "../../../../src/domain/chats/message.ts";
import type { Role } from "../../../../src/domain/people/role.ts";
import { createRoles } from "../../../../src/rights/people/roles.ts";
import { draft } from "../../../contracts/store-setup.ts";
import { askIn, question } from "../../../support/asked-question.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";

const minuteMs = 60_000;
const askedAt = 1_000 * minuteMs;
const roles: Record<string, Role> = { "terminal:bob": "admin", "terminal:cy": "admin", "terminal:root": "owner" };

/**
 * A chat in which `AAAAAA` was asked, and then something was said. Bob, Cy and Root may answer; the rest are members.
 */
async function openRig(more: Partial<NewApproval> = {}) {
  const home = await openTestStore();
  const { store } = home;
  await askIn(store, [question({ askedAt, ...more })], { card: { kind: "notice" } });
  const other = await store.outbox.add(draft("something else"), askedAt);
  const time = { wall: askedAt + 1 };
  const log: string[] = [];
  const clock = { now: () => time.wall, monotonic: () => 0 };
  const service = new ApprovalService({
    store: store.approvals,
    wake: async ({ turn }) => void log.push(`wake ${turn}`),
    carryOut: async () => undefined,
    carryOutReviews: async () => "done",
    forms: { read: () => undefined, fill: () => undefined, settled: () => undefined },
    isMoot: async () => false,
    deniedBy: async () => undefined,
    deliver: () => undefined,
    publish: async ({ type, actor, data }) =>
      void log.push(`${type} ${actor} ${"way" in data ? `${data.way} ${data.allow}` : data.state}`),
    clock,
    forwardClock: clock,
    logger: pino({ level: "silent" }),
  });
  const standings = createRoles({
    people: () => [{ name: "root", ids: ["terminal:root", "terminal:root2"], role: "owner" }],
    membersOf: () => ({ place: "members", default: "member", byKey: roles }),
    isOperatorOnly: () => false,
  });
  const take = createAnswerByReaction({
    store: store.approvals,
    service,
    standingOf: standings.standingOf,
    publish: async ({ actor, data }) => void log.push(`refused ${actor} ${data.rule}`),
    deliver: () => undefined,
    clock,
  });
  const [card] = await store.outbox.unsent(10);
  let reactions = 0;
  const react = async (sender: string, emoji: string, given: Partial<IncomingReaction> & { trigger?: Role } = {}) => {
    reactions += 1;
    const { trigger, ...about } = given;
    const reaction: IncomingReaction = {
      channel: "terminal",
      chat: "chat",
      id: `r${reactions}`,
      sender: { id: sender, name: "Bob" },
      seq: card?.seq ?? 0,
      emoji,
      ...about,
    };
    return take(someGroup("family", { channel: reaction.channel, chat: reaction.chat }), reaction, trigger);
  };
  return {
    store,
    service,
    time,
    log,
    react,
    otherSeq: other.seq,
    state: async () => {
      const now = await store.approvals.get("AAAAAA");
      return `${now?.state} ${now?.votes}`;
    },
    /** Messages of the host since. */
    said: async () => (await store.outbox.unsent(50)).slice(2).map(({ text, kind }) => `${kind}: ${text}`),
    async [Symbol.asyncDispose]() {
      service[Symbol.dispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

test("👍 of somebody who may allows the call once, 👎 denies it, with record and notice; nothing afterwards changes it", async () => {
  for (const [emoji, state, words] of [
    ["👍🏿", "allowed 1", 'notice: "Bob" has allowed shell (AAAAAA) once.'],
    ["👎", "denied 0", 'notice: "Bob" has denied shell (AAAAAA).'],
  ] as const) {
    await using rig = await openRig();

    await rig.react("bob", emoji);
    for (const later of ["", "👎", "👍", "❤️"]) await rig.react("bob", later);
    await rig.react("cy", "👎");
    await rig.react("ann", "👍");

    expect(await rig.state()).toBe(state);
    expect(await rig.store.approvals.get("AAAAAA")).toMatchObject({
      scope: emoji === "👎" ? undefined : "once",
      decider: { actor: "member:bob", role: "admin" },
    });
    expect(await rig.said()).toEqual([words]);
    const decided = state.split(" ")[0];
    expect(rig.log).toEqual([
      `approval.answered member:bob reaction ${emoji !== "👎"}`,
      `approval.decided member:bob ${decided}`,
      "wake t",
    ]);
  }
});

test("the same reaction counts once, and is known again when it is over", async () => {
  await using rig = await openRig();

  const first = await rig.react("bob", "👍", { id: "same" });
  const again = await rig.react("bob", "👍", { id: "same" });
  const another = await rig.react("cy", "👍", { id: "same" });

  expect([first, again, another].map(({ duplicate }) => duplicate)).toEqual([false, true, false]);
  expect(await rig.said()).toHaveLength(1);
});

test("nothing comes of other emoji, other messages, other chats and channels, or a taken-back one", async () => {
  await using rig = await openRig();

  for (const emoji of ["", "❤️", "👌", "👍👍", "yes"]) await rig.react("bob", emoji);
  for (const about of [{ seq: rig.otherSeq }, { seq: 999 }, { seq: 0 }, { chat: "other" }, { channel: "http" }]) {
    await rig.react("bob", "👍", about);
  }

  expect(await rig.state()).toBe("open 0");
  expect(await rig.said()).toEqual([]);
  expect(rig.log).toEqual([]);
});

test("who may not is told once for the card, whatever they do; it is on record, and answers nothing", async () => {
  await using rig = await openRig();

  for (const emoji of ["👍", "", "👎", "👍🏽"]) await rig.react("ann", emoji);
  // A name is nobody's role, and an id is exactly what the channel says.
  await rig.react("BOB", "👍");
  await rig.react("bоb", "👍");

  expect(await rig.state()).toBe("open 0");
  const text = "notice: AAAAAA is for admins to answer, and you are a member here. /whoami explains why.";
  expect(await rig.said()).toEqual([text, text, text]);
  expect(rig.log).toEqual(["ann", "BOB", "bоb"].map((id) => `refused member:${id} answering AAAAAA needs admin`));
});

test("a crowd that may not is told so for its first twenty people", async () => {
  await using rig = await openRig();

  for (let index = 0; index < 30; index += 1) await rig.react(`stranger-${index}`, "👎");

  expect(await rig.said()).toHaveLength(20);
  expect(await rig.state()).toBe("open 0");
});

test("somebody who is not heard in the group, though an admin, answers nothing", async () => {
  await using rig = await openRig();

  await rig.react("bob", "👍", { trigger: "owner" });

  expect(await rig.state()).toBe("open 0");
  expect(await rig.said()).toEqual([
    "notice: AAAAAA is for owners to answer, and you are an admin here. /whoami explains why.",
  ]);
});

test("a quorum counts people, not reactions, nor the ids of one person; what it waits for is said once for each", async () => {
  await using rig = await openRig({ quorum: 2 });

  for (const emoji of ["👍", "👍🏻", "", "👍"]) await rig.react("bob", emoji);
  const afterBob = await rig.state();
  await rig.react("root", "👍");
  const afterRoot = await rig.state();
  await rig.react("root2", "👍");

  expect([afterBob, afterRoot]).toEqual(["open 1", "allowed 2"]);
  expect(await rig.said()).toEqual([
    "notice: shell (AAAAAA) waits: 1 of 2 people have allowed it.",
    'notice: "Bob" has allowed shell (AAAAAA) once.',
  ]);
});

test("the ids of one person are one for a quorum", async () => {
  await using rig = await openRig({ quorum: 2 });

  await rig.react("root", "👍");
  await rig.react("root2", "👍");

  expect(await rig.state()).toBe("open 1");
});

test("somebody who was refused and has the role now may answer, but not with the old reaction", async () => {
  await using rig = await openRig();
  await rig.react("dan", "👍", { id: "old" });
  roles["terminal:dan"] = "admin";
  try {
    expect(await rig.react("dan", "👍", { id: "old" })).toEqual({ duplicate: true });
    expect(await rig.state()).toBe("open 0");
    await rig.react("dan", "👍", { id: "new" });
    expect(await rig.state()).toBe("allowed 1");
  } finally {
    delete roles["terminal:dan"];
  }
});

test("what cannot be shown whole is not allowed by a thumb, and can be denied by one", async () => {
  await using rig = await openRig({ input: JSON.stringify({ command: "x".repeat(2_000) }) });

  await rig.react("bob", "👍");
  await rig.react("bob", "👍🏼");
  expect(await rig.state()).toBe("open 0");
  expect(await rig.said()).toEqual([expect.stringContaining("AAAAAA is too long to be shown here")]);
  await rig.react("bob", "👎");

  expect(await rig.state()).toBe("denied 0");
});

test("a card whose time is over, or whose turn has ended, is answered by nothing", async () => {
  await using late = await openRig();
  late.time.wall = askedAt + 30 * minuteMs;
  await late.react("bob", "👍");
  await using ended = await openRig();
  await ended.store.turns.finish("t", { state: "cancelled", reason: "stop", at: askedAt, steps: [], outgoing: [] });
  await ended.react("bob", "👍");

  expect([await late.state(), await ended.state()]).toEqual(["expired 0", "cancelled 0"]);
  expect(await late.said()).toEqual([expect.stringContaining("Nobody has answered")]);
  expect(await ended.said()).toEqual([]);
});
