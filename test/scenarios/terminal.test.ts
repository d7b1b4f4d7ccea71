import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { converse } from "../support/crabpot.ts";
import { atTerminal, startInTerminal } from "../support/pseudo-terminal.ts";
import { TestHost } from "../support/host.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A home without a configuration: the scripted model and the group `main`. */
async function emptyHome() {
  const folder = await temporaryFolder();
  const home = join(folder.path, "home");
  await mkdir(home, { mode: 0o700 });
  return { home, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("a piped line is answered with what the container said, and the host ends with 0", async () => {
  await using folder = await emptyHome();

  const { code, stdout } = await converse(folder, "@crab run id -u && uname -s\n", "start", "--terminal");

  expect(code).toBe(0);
  expect(stdout).toMatch(/^main\/crab: \d+$/m);
  expect(stdout).toContain("Linux");
});

test("all lines but a refused one are answered, as JSON lines when asked for; the refused one is counted, and the host ends with 1", async () => {
  await using folder = await emptyHome();

  const { code, stdout, stderr } = await converse(
    folder,
    "run echo one\n\nmain/ann: run echo two\nmian/ann: run echo four\nrun echo three",
    "start",
    "--terminal",
    "--json",
  );

  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; group: string; text: string; inReplyTo: string[]; ms: number });
  expect(code).toBe(1);
  expect(stderr).toMatch(/no group "mian"[^]*crabpot: 1 line was refused/);
  expect(lines.flatMap((line) => line.inReplyTo)).toHaveLength(3);
  expect(lines.map((line) => line.text).join("\n")).toMatch(/one[\s\S]*two[\s\S]*three/);
  expect(lines[0]).toMatchObject({ type: "reply", group: "main" });
  expect(typeof lines[0]?.ms).toBe("number");
});

test("the scripted model says what it is, and reads and writes files for real", async () => {
  await using folder = await emptyHome();

  const input = "write notes.txt milk and bread\nread notes.txt\nwhat is the meaning of life?\n";
  const { stdout } = await converse(folder, input, "start", "--terminal");

  expect(stdout).toContain("milk and bread");
  expect(stdout).toMatch(/no intelligence|without intelligence/i);
});

test.for(["place.json", "crabpot.sqlite", "control.sock"])(
  "a host that is talked to in a terminal ends with it, also when no signal says that it was closed once there was %s",
  async (file) => {
    await using folder = await emptyHome();
    const terminal = startInTerminal({ home: folder.home, hasLeft: true }, "start", "--terminal");
    await expect.poll(() => existsSync(join(folder.home, file)), { interval: 2 }).toBe(true);

    expect(await terminal.close()).toBe(129);
  },
);

test("at a terminal replies are wrapped between words, and what is logged stands above what is being typed", async () => {
  await using host = await TestHost.prepare({ groups: { main: { channel: "terminal", trigger: "always" } } });
  await using person = atTerminal(host, 30, "start", "--terminal");
  await expect.poll(() => person.seen()).toContain("› ");
  person.type("run printf 'the quick brown %s jumps over' fox\r");
  await expect.poll(() => person.seen()).toContain("[exit code 0");
  person.type("half");
  await expect.poll(() => person.seen()).toMatch(/half$/);
  await host.changeConfig({ nonsense: true });
  await expect.poll(() => person.seen()).toMatch(/half[^]*ERROR[^]*cannot be used[^]*\n[^\n]*half[^\n]*$/);
  person.type("\u0003");

  expect(await person.ended).toBe(0);
  expect(person.seen()).toContain(" the quick brown fox\r\n  jumps over\r\n");
});

test("Ctrl-C in a turn says what it waits for and lets it end; a second one ends the host at once", async () => {
  await using host = await TestHost.prepare({ groups: { main: { channel: "terminal", trigger: "always" } } });
  const sitDown = async (doing: string) => {
    const person = atTerminal(host, 80, "start", "--terminal");
    await expect.poll(() => person.seen()).toContain("› ");
    person.type(`run touch ${doing}; until [ -e go-on ]; do sleep 0.1; done; rm go-on; echo all is $((3 + 4))\r`);
    await expect.poll(() => existsSync(join(host.home, "groups/main", doing))).toBe(true);
    person.type("\u0003");
    const waits = "waiting for the turn in group main to end; press Ctrl-C again to end now";
    await expect.poll(() => person.seen()).toContain(waits);
    return person;
  };

  await using patient = await sitDown("once");
  await writeFile(join(host.home, "groups/main/go-on"), "");
  const first = await patient.ended;
  await using hasty = await sitDown("twice");
  hasty.type("\u0003");
  const second = await hasty.ended;
  await host.removeContainers();

  expect(first).toBe(0);
  expect(patient.seen()).toMatch(/press Ctrl-C again[^]*main\/crab:[^]*all is 7/);
  expect(second).toBe(130);
  expect(hasty.seen()).not.toContain("all is 7");
});
