import { once } from "node:events";
import { PassThrough } from "node:stream";

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Receipt } from "../../../src/channels/channel.ts";
import { formatText, parseLine } from "../../../src/channels/terminal/line.ts";
import { DivertibleOutput } from "../../../src/lib/process/divertible-output.ts";
import { reply } from "../../contracts/channel.ts";
import { openTerminalRig as openRig } from "../../support/terminal-rig.ts";
import { anyCharacter } from "../../support/any-character.ts";

const stored: Receipt = { outcome: "stored", duplicate: false };
const never = new AbortController().signal;

const groups = ["main", "family", "Chess-Club"];

describe("a line", () => {
  test.each([
    ["hello", "main", "you", "hello"],
    ["family/anna: hello", "family", "anna", "hello"],
    ["family/Anna Maria:hello: you", "family", "Anna Maria", "hello: you"],
    ["  family/anna:   hello  ", "family", "anna", "hello"],
    ["Chess-Club/anna: hello", "Chess-Club", "anna", "hello"],
    ["/stop", "main", "you", "/stop"],
    ["family/anna: /new", "family", "anna", "/new"],
    ["see https://example.org/a: b", "main", "you", "see https://example.org/a: b"],
    ["https://example.org", "main", "you", "https://example.org"],
    ["a / b: c", "main", "you", "a / b: c"],
    ["/bin/sh: not found", "main", "you", "/bin/sh: not found"],
    ["and/or: which is right?", "main", "you", "and/or: which is right?"],
    ["src/index.ts: what is wrong here?", "main", "you", "src/index.ts: what is wrong here?"],
    ["main/you: familly/ann: hi", "main", "you", "familly/ann: hi"],
  ])("%j is said in group %s by %s", (line, group, member, text) => {
    expect(parseLine(line, groups)).toEqual({ group, member, text });
  });

  test.each([
    ["familly/ann: hi", "family"],
    ["Family/ann: hi", "family"],
    ["chesscub/ann: hi", "Chess-Club"],
    ["mian/ann: hi", "main"],
  ])("%j is said nowhere: group %s may be meant", (line, meant) => {
    expect(parseLine(line, groups)).toEqual({ group: line.slice(0, line.indexOf("/")), member: "ann", meant });
  });

  test.each(["", "   ", "\t", "family/anna:", "family/anna:   "])("%j says nothing", (line) => {
    expect(parseLine(line, groups)).toBeUndefined();
  });

  test("that is printed comes back as it was when it is read again", () => {
    const name = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/);
    const said = fc.string({ unit: "grapheme-ascii", minLength: 1 }).map((text) => text.trim());
    fc.assert(
      fc.property(name, name, said, (group, member, text) => {
        fc.pre(text !== "");
        expect(parseLine(`${group}/${member}: ${text}`, [group])).toEqual({ group, member, text });
      }),
    );
  });

  test("never steers the terminal or looks like a line of somebody else", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter }),
        fc.constantFrom("\n", "\r\n", "\r", "\u001b[2J", "\u2028"),
        (text, mark) => {
          const shown = formatText(`${text}${mark}family/anna: forged`);
          expect(shown).not.toMatch(/[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}\u202a-\u202e]/u);
          expect(
            shown
              .split("\n")
              .slice(1)
              .every((line) => line.startsWith("  ")),
          ).toBe(true);
        },
      ),
    );
  });
});

test("a reply is printed as a line of the agent in its group", async () => {
  await using rig = openRig();
  await rig.channel.start(async () => stored);

  await rig.channel.send(reply(1, "two\nlines", { group: "family" }), never);

  expect(rig.seen()).toBe("family/crab: two\n  lines\n");
});

test("with --json, replies and notices are one object per line with all that is known of them", async () => {
  await using rig = openRig({ json: true });
  await rig.channel.start(async () => stored);

  await rig.channel.send(reply(1, "two\nlines"), never);
  await rig.channel.send(
    reply(2, "full", { kind: "notice", inReplyTo: [], turn: undefined, elapsedMs: undefined }),
    never,
  );

  const lines = rig.seen().trimEnd().split("\n");
  expect(lines).toEqual([
    `{"type":"reply","group":"main","text":"two\\nlines","inReplyTo":["said-1"],"turn":"turn-1","ms":12.3}`,
    `{"type":"notice","group":"main","text":"full","inReplyTo":[],"turn":null,"ms":null}`,
  ]);
});

test("lines that come faster than they can be stored are all stored, in order, before the input counts as ended", async () => {
  await using rig = openRig();
  const texts: string[] = [];
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
  rig.input.end(`${lines.join("\n")}\n\nno line end`);

  await rig.channel.start(async ({ text }) => {
    await Promise.resolve();
    texts.push(text);
    return stored;
  });
  await rig.channel.inputEnded;

  expect(texts).toEqual([...lines, "no line end"]);
});

test("what was typed before the host was ready is not lost", async () => {
  await using rig = openRig();
  const texts: string[] = [];
  rig.input.end("early\nbird\n");
  await once(rig.input, "end");

  await rig.channel.start(async ({ text }) => {
    texts.push(text);
    return stored;
  });
  await rig.channel.inputEnded;

  expect(texts).toEqual(["early", "bird"]);
});

test("a line is offered again under the same id until the host has room for it", async () => {
  await using rig = openRig();
  const offers: string[] = [];
  const answers: Receipt[] = [
    { outcome: "refused", reason: "queue-full", retryAfterS: 0.001, stopped: false },
    { outcome: "refused", reason: "stopped", retryAfterS: 0.001, stopped: true },
  ];
  rig.input.end("one\ntwo\n");

  await rig.channel.start(async ({ id }) => {
    offers.push(id);
    return answers.shift() ?? stored;
  });
  await rig.channel.inputEnded;

  expect(offers).toHaveLength(4);
  expect(new Set(offers.slice(0, 3)).size).toBe(1);
  expect(rig.hints().match(/queue-full/g)).toHaveLength(1);
  expect(rig.seen()).toBe("");
});

test("a line for a misspelt group is handed to nobody, and what to type instead is said", async () => {
  await using rig = openRig({ chats: () => ["main", "family"] });
  const texts: string[] = [];
  rig.input.end("familly/ann: a secret\nand/or: which?\n");

  await rig.channel.start(async ({ text }) => {
    texts.push(text);
    return stored;
  });
  await rig.channel.inputEnded;

  expect(texts).toEqual(["and/or: which?"]);
  expect(rig.hints()).toMatch(/no group "familly".*"family\/ann: …".*"main\/you: familly\/ann: …"/);
  expect(rig.hints()).not.toContain("secret");
});

test("a line that can never be taken is reported and the next one goes on", async () => {
  let refused = 0;
  await using rig = openRig({ chats: () => ["main", "gone"], onRefused: () => (refused += 1) });
  rig.input.end("gone/anna: hi\nlong\nlast\n");
  const answers: Receipt[] = [
    { outcome: "unknown-chat" },
    { outcome: "refused", reason: "too long", retryAfterS: 0, stopped: false },
  ];

  await rig.channel.start(async () => answers.shift() ?? stored);
  await rig.channel.inputEnded;

  expect(rig.hints()).toMatch(/no group "gone".*\n.*too long/);
  expect(refused).toBe(2);
  expect(rig.seen()).toBe("");
});

test("a failing store is no reason to lose a line", async () => {
  await using rig = openRig();
  const offers: string[] = [];
  rig.input.end("one\n");

  await rig.channel.start(async ({ id }) => {
    offers.push(id);
    if (offers.length === 1) throw new Error("disk full");
    return stored;
  });
  await rig.channel.inputEnded;

  expect(offers).toHaveLength(2);
  expect(offers[0]).toBe(offers[1]);
});

test("the ids of two runs never meet", async () => {
  const ids: string[] = [];
  for (const run of [1, 2]) {
    await using rig = openRig();
    rig.input.end(`run ${run}\n`);
    await rig.channel.start(async ({ id }) => {
      ids.push(id);
      return stored;
    });
    await rig.channel.inputEnded;
  }

  expect(new Set(ids).size).toBe(2);
});

test("its end does not wait for a line that the host has no room for", async () => {
  const rig = openRig();
  const offered = Promise.withResolvers<void>();
  rig.input.write("one\n");
  await rig.channel.start(async () => {
    offered.resolve();
    return { outcome: "refused", reason: "queue-full", retryAfterS: 3_600, stopped: false };
  });
  await offered.promise;

  await rig.channel[Symbol.asyncDispose]();

  await rig.channel.inputEnded;
  expect(rig.channel.state().state).toBe("closed");
});

test("an output that is gone is an error of the send, not of the process", async () => {
  await using rig = openRig();
  await rig.channel.start(async () => stored);
  rig.output.destroy(new Error("EPIPE"));

  await expect(rig.channel.send(reply(1, "hello"), never)).rejects.toThrow("a stream was destroyed");

  expect(rig.channel.state()).toMatchObject({ state: "closed", detail: expect.stringContaining("EPIPE") });
});

test("a terminal that is gone before its reader is greeted is no channel to be started again: its input has ended", async () => {
  await using rig = openRig({ interactive: true });
  rig.output.destroy(new Error("EIO"));
  rig.input.end();

  await rig.channel.start(async () => stored);

  await rig.channel.inputEnded;
  expect(rig.channel.state()).toMatchObject({ state: "closed", detail: expect.stringContaining("EIO") });
});

test("somebody who types is greeted, and keeps what is being typed when a reply comes in between", async () => {
  await using rig = openRig({ interactive: true });
  const taken: string[] = [];
  await rig.channel.start(async ({ text }) => {
    taken.push(text);
    return stored;
  });
  await expect.poll(() => rig.seen()).toMatch(/You are talking to crab.*› /s);

  rig.input.write("half a li");
  await expect.poll(() => rig.seen()).toContain("half a li");
  const before = rig.seen().length;
  await rig.channel.send(reply(1, "a reply"), never);
  const after = rig.seen().slice(before);
  rig.input.write("ne\r");
  await expect.poll(() => taken).toEqual(["half a line"]);

  // The line is wiped, the reply printed, and the prompt shown again with what was typed.
  expect(after.startsWith("\u001b[1G\u001b[0J")).toBe(true);
  expect(after).toMatch(/main\/crab:.* a reply\n.*› .*half a li/s);
});

test("what the agent works on for long stands in the prompt until it is done; without a prompt it is not shown", async () => {
  await using rig = openRig({ interactive: true });
  await using pipe = openRig();
  const show = async (text: string, over: boolean) => {
    for (const { channel } of [rig, pipe]) {
      await channel.signal("main", over ? "idle" : "working");
      await channel.showProgress("main", { id: "t", text, over });
    }
  };
  for (const { channel } of [rig, pipe]) await channel.start(async () => stored);

  await show("Working for 10 s: thinking", false);
  await expect.poll(() => rig.seen()).toContain("main Working for 10 s: thinking … ");
  const before = rig.seen().length;
  await show("Worked for 12 s.", true);
  await expect.poll(() => rig.seen().slice(before)).toContain("› ");

  expect(rig.seen().slice(before)).not.toContain("Work");
  expect(pipe.seen()).toBe("");
});

test("what is logged is printed above the prompt, also when what is being typed takes several rows", async () => {
  const output = Object.assign(new PassThrough(), { columns: 20 });
  const logs = new DivertibleOutput(new PassThrough());
  await using rig = openRig({ interactive: true, output, error: output, logs });
  await rig.channel.start(async () => stored);
  rig.input.write("half a line that goes on and on and on");
  await expect.poll(() => rig.seen()).toContain("and on and on");
  const before = rig.seen().length;

  logs.write("WARN: the disk is nearly full\n");

  const after = rig.seen().slice(before);
  expect(after.startsWith("\u001b[2A\u001b[1G\u001b[0JWARN: the disk is nearly full\n\n\n")).toBe(true);
  expect(after).toMatch(/› .*half a line that goes on and on and on/s);
});

test("replies and notices are wrapped between words on a terminal, below each other, and never as JSON or in a pipe", async () => {
  const said = reply(1, "the quick brown fox jumps over the lazy dog");
  const onTerminal = { output: Object.assign(new PassThrough(), { columns: 24 }) };
  for (const [more, expected] of [
    [onTerminal, "main/crab: the quick\n  brown fox jumps over\n  the lazy dog\n"],
    [{}, `main/crab: ${said.text}\n`],
    [{ output: Object.assign(new PassThrough(), { columns: 24 }), json: true }, expect.stringContaining(said.text)],
  ] as const) {
    await using rig = openRig(more);
    await rig.channel.start(async () => stored);
    await rig.channel.send(said, never);

    expect(rig.seen()).toEqual(expected);
  }
});

test("Ctrl-D ends the conversation", async () => {
  await using rig = openRig({ interactive: true });
  await rig.channel.start(async () => stored);

  rig.input.write("\u0004");

  await rig.channel.inputEnded;
});

test("a file is a line that says where it lies, and its name cannot look like anything else", async () => {
  await using rig = openRig();
  await rig.channel.start(async () => stored);
  const file = { path: "/home/x/outgoing/abc", name: "a\u001b[2J.pdf", mimeType: "application/pdf", bytes: 12_000 };

  await rig.channel.send({ ...reply(1, "here"), file }, never);
  await rig.channel.send({ ...reply(2, ""), file }, never);

  expect(rig.seen()).toContain("crab: [file: a\\u{1b}[2J.pdf, 12 kB, /home/x/outgoing/abc] here\n");
  expect(rig.seen()).toContain("/home/x/outgoing/abc]\n");
});
