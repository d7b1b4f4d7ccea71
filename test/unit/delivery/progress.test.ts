import { expect, test } from "vitest";

import { Progress } from "../../../src/delivery/progress.ts";
import type { ProgressSettings } from "../../../src/domain/settings/resolved-group.ts";
import { someGroup } from "../../support/some-group.ts";
import { VirtualTime } from "../../support/virtual-time.ts";

const family = someGroup("family", { chat: "family" });
const turn = { id: "t", startedAt: 0 };

function openRig(
  more: Partial<ProgressSettings> & { readonly edits?: boolean; readonly show?: () => Promise<void> } = {},
) {
  const { edits = true, show, ...settings } = more;
  const time = new VirtualTime();
  const shown: string[] = [];
  const log = (text: string): void => void shown.push(`${time.clock.now() / 1000} ${text}`);
  const progress = new Progress({
    settingsOf: () => ({ afterSeconds: 10, reactions: true, answers: false, isAsked: false, ...settings }),
    channelOf: () => ({
      edits,
      channel: {
        react: async (chat, { message, emoji }) => log(`${chat} ${message} ${emoji}`),
        ...(edits && {
          showProgress: async (chat, { id, text, over }) => {
            log(`${chat} ${id} ${text}${over ? " (over)" : ""}`);
            await show?.();
          },
        }),
      },
    }),
    notify: async ({ kind, inReplyTo, text }) => log(`${kind} to ${inReplyTo.length}: ${text}`),
    clock: time.clock,
    wait: time.wait,
  });
  return { time, shown, progress };
}

test("a turn that takes long says what it does and since when, ever more seldom, and at last how long it took", async () => {
  const { time, shown, progress } = openRig();

  progress.began(family, turn);
  progress.doing("t", () => "running a command (npm test)");
  await time.advance(25_000);
  progress.doing("t", () => "thinking");
  await time.advance(175_000);
  progress.ended("t");
  await time.advance(600_000);

  expect(shown).toEqual([
    "10 family t Working for 10 s: running a command (npm test)",
    "20 family t Working for 20 s: running a command (npm test)",
    ...[30, 40, 50].map((at) => `${at} family t Working for ${at} s: thinking`),
    "60 family t Working for 1 min: thinking",
    "120 family t Working for 2 min: thinking",
    "180 family t Working for 3 min: thinking",
    "200 family t Worked for 3 min 20 s. (over)",
  ]);
  expect(time.sleepers).toBe(0);
});

test("who gets an answer soon sees the reaction only", async () => {
  const { time, shown, progress } = openRig();

  progress.received(family, { id: "m", sender: { id: "ann", name: "Ann" } });
  progress.began(family, turn);
  await time.advance(9_000);
  progress.ended("t");
  await time.advance(60_000);

  expect(shown).toEqual(["0 family m 👀"]);
  expect(time.sleepers).toBe(0);
});

test("what is not wanted is not shown", async () => {
  const { time, shown, progress } = openRig({ afterSeconds: 0, reactions: false });

  progress.received(family, { id: "m", sender: { id: "ann", name: "Ann" } });
  progress.began(family, turn);
  await time.advance(600_000);

  expect(shown).toEqual([]);
});

test("where no line can be replaced nothing is said, unless the group asks for it: then once a minute, and it answers nothing", async () => {
  const silent = openRig({ edits: false });
  const asked = openRig({ edits: false, isAsked: true });

  for (const { progress, time } of [silent, asked]) {
    progress.began(family, turn);
    await time.advance(140_000);
    progress.ended("t");
    await time.advance(60_000);
  }

  expect(silent.shown).toEqual([]);
  expect(asked.shown.map((text) => text.replace(/Working.*/, "Working"))).toEqual(
    [10, 70, 130].map((at) => `${at} notice to 0: Working`),
  );
});

test("a line that cannot be shown is forgotten, and one that is stuck is not followed by others", async () => {
  const failing = openRig({ show: () => Promise.reject(new Error("not connected")) });
  const stuck = openRig({ show: () => new Promise(() => undefined) });

  for (const { progress, time } of [failing, stuck]) {
    progress.began(family, turn);
    await time.advance(25_000);
    progress.ended("t");
    await time.settle();
  }

  expect(failing.shown).toHaveLength(3);
  expect(stuck.shown).toHaveLength(1);
});

test("its end leaves no timer", async () => {
  const { time, progress } = openRig();

  progress.began(family, turn);
  progress[Symbol.dispose]();
  await time.settle();

  expect(time.sleepers).toBe(0);
});

test("where it is wanted the line shows the answer while it is written, every two seconds if there is more of it", async () => {
  const { time, shown, progress } = openRig({ answers: true, afterSeconds: 2 });
  let said = "";

  progress.began(family, turn);
  progress.doing("t", () => "thinking");
  await time.advance(2_000);
  progress.answering("t", () => said);
  said = "The first words";
  await time.advance(2_000);
  await time.advance(4_000);
  said = "The first words, and more";
  await time.advance(2_000);
  progress.doing("t", () => "running a command (npm test)");
  await time.advance(12_000);
  progress.ended("t");
  await time.advance(10_000);

  expect(shown).toEqual([
    "2 family t Working for 2 s: thinking",
    "4 family t The first words …",
    "10 family t The first words, and more …",
    "20 family t Working for 20 s: running a command (npm test)",
    "22 family t Worked for 22 s. (over)",
  ]);
});

test("of a long answer the end is shown, and an answer is wanted only where lines can be replaced and the group says so", async () => {
  const { time, shown, progress } = openRig({ answers: true, afterSeconds: 2 });
  const silent = openRig({ answers: false });
  const unable = openRig({ answers: true, edits: false, isAsked: true });

  for (const rig of [{ progress }, silent, unable]) rig.progress.began(family, turn);
  progress.answering("t", () => `${"x".repeat(5_000)}end`);
  await time.advance(2_000);
  const wanted = [progress, silent.progress, unable.progress].map((one) => one.showsAnswer("t"));
  for (const rig of [{ progress }, silent, unable]) rig.progress[Symbol.dispose]();

  expect(wanted).toEqual([true, false, false]);
  expect(shown[0]).toMatch(/^2 family t …x{1997}end …$/);
});
