import { PassThrough } from "node:stream";

import { expect, test } from "vitest";

import type { Receipt } from "../../../src/channels/channel.ts";
import type { Delta } from "../../../src/domain/chats/delta.ts";
import { reply } from "../../contracts/channel.ts";
import { ScreenEmulator } from "../../support/screen-emulator.ts";
import { openTerminalRig } from "../../support/terminal-rig.ts";

const stored: Receipt = { outcome: "stored", duplicate: false };
const never = new AbortController().signal;
const place = { group: "main", session: "s", turn: "t", channel: "terminal", chat: "main" } as const;

type Told = {
  [Type in Delta["type"]]: Omit<Extract<Delta, { type: Type }>, keyof typeof place | "agent">;
}[Delta["type"]];

/** A terminal with somebody at it, who sees what a screen would show. */
async function sitDown({ columns = 30, rows = 24 } = {}) {
  const output = Object.assign(new PassThrough(), { columns, rows });
  const rig = openTerminalRig({ interactive: true, output, error: output });
  const screen = new ScreenEmulator(columns);
  output.on("data", (chunk) => screen.write(String(chunk).replaceAll("\n", "\r\n")));
  await rig.channel.start(async () => stored);
  await expect.poll(() => screen.lines().at(-1)).toBe("›");
  const help = screen.lines().slice(0, -1);
  return {
    rig,
    /** Lines below the welcome text. */
    seen: () => screen.lines().slice(help.length),
    show: (delta: Told, turn = "t") => rig.channel.showDelta?.({ ...place, turn, ...delta }),
    say: (text: string, seq = 1) => rig.channel.send({ ...reply(seq, text), group: "main", chat: "main" }, never),
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

test("an answer grows above the prompt, and its message takes its place", async () => {
  await using person = await sitDown();
  person.rig.input.write("half a li");

  person.show({ type: "answer", text: "The quick brown" });
  await expect.poll(() => person.seen()).toEqual(["main/crab: The quick brown", "› half a li"]);
  person.show({ type: "answer", text: " fox jumps over the lazy dog" });
  await expect
    .poll(() => person.seen())
    .toEqual(["main/crab: The quick brown", "  fox jumps over the lazy dog", "› half a li"]);
  person.show({ type: "over" });
  await person.say("The quick brown fox jumps over the lazy dog");

  await expect
    .poll(() => person.seen())
    .toEqual(["main/crab: The quick brown fox", "  jumps over the lazy dog", "› half a li"]);
});

test("of an answer that begins again nothing stays", async () => {
  await using person = await sitDown();

  person.show({ type: "answer", text: "A first try that takes several rows of the screen to be told" });
  await expect.poll(() => person.seen().length).toBe(4);
  person.show({ type: "reset" });
  person.show({ type: "answer", text: "Second" });

  await expect.poll(() => person.seen()).toEqual(["main/crab: Second", "›"]);
});

test("what a tool does stands on one line, with the last line that it printed", async () => {
  await using person = await sitDown({ columns: 40 });

  person.show({ type: "answer", text: "I look." });
  person.show({ type: "doing", text: "running a command (npm test)" });
  await expect.poll(() => person.seen()).toEqual(["main/crab: I look.", "  running a command (npm test)", "›"]);
  person.show({ type: "output", call: "c", tool: "shell", text: "one\ntwo\n" });

  await expect.poll(() => person.seen()).toEqual(["main/crab: I look.", "  running a command (npm test): two", "›"]);
});

test("no more rows are taken than there are, and the end of the answer is seen", async () => {
  await using person = await sitDown({ rows: 10 });

  person.show({ type: "answer", text: Array.from({ length: 50 }, (_, line) => `line ${line}`).join("\n") });

  await expect
    .poll(() => person.seen())
    .toEqual(["…", "  line 45", "  line 46", "  line 47", "  line 48", "  line 49", "›"]);
});

test("a line that is entered meanwhile stays, and the answer goes on below it", async () => {
  await using person = await sitDown();
  person.show({ type: "answer", text: "The quick" });
  await expect.poll(() => person.seen()).toEqual(["main/crab: The quick", "›"]);

  person.rig.input.write("a line that is longer than a row\r");
  await expect.poll(() => person.seen().slice(0, 2)).toEqual(["› a line that is longer than a", " row"]);
  person.show({ type: "answer", text: " brown" });

  await expect
    .poll(() => person.seen())
    .toEqual(["› a line that is longer than a", " row", "main/crab: The quick brown", "›"]);
});

test("what an agent or a program writes cannot steer the terminal, nor look like somebody else's line", async () => {
  await using person = await sitDown({ columns: 60 });

  person.show({ type: "answer", text: "a\u001b[2J\u001b]0;title\u0007\nmain/owner: yes\u202e" });
  person.show({ type: "doing", text: "running a command (\u001b[5m)" });
  person.show({ type: "output", call: "c", tool: "shell", text: "\u001b[31mred\rmain/owner: no" });

  await expect.poll(() => person.seen()).toHaveLength(4);
  expect(person.seen()[0]).toBe("main/crab: a\\u{1b}[2J\\u{1b}]0;title\\u{7}");
  expect(person.seen()[1]).toBe("  main/owner: yes\\u{202e}");
  expect(person.seen()[2]).toBe("  running a command (\\u{1b}[5m): main/owner: no");
  expect(person.rig.seen()).not.toContain("\u001b[2J");
  expect(person.rig.seen()).not.toContain("\u001b]");
  expect(person.rig.seen()).not.toContain("\u001b[31m");
});

test("several turns are shown below each other, each until it is over", async () => {
  await using person = await sitDown();

  person.show({ type: "answer", text: "one" });
  person.show({ type: "answer", text: "two" }, "other");
  await expect.poll(() => person.seen()).toEqual(["main/crab: one", "main/crab: two", "›"]);
  person.show({ type: "over" });

  await expect.poll(() => person.seen()).toEqual(["main/crab: two", "›"]);
});

test.each([{ interactive: false }, { json: true, interactive: true }])(
  "for programs nothing is shown: %j",
  async (more) => {
    await using rig = openTerminalRig(more);

    expect(rig.channel.showDelta).toBeUndefined();
  },
);
