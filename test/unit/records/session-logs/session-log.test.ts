import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { followLogs, readLogs } from "../../../../src/surfaces/cli/log-reader.ts";
import { visible } from "../../../../src/lib/text/visible.ts";
import { SessionLog, SessionLogs } from "../../../../src/records/session-logs/session-log.ts";
import type { SessionLogEntry } from "../../../../src/records/session-logs/session-log.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** Time that goes on only when told to. */
class SteeredClock {
  ms = 1_000_000;
  readonly now = (): number => this.ms;
  readonly monotonic = (): number => this.ms;
}

const names = { group: "family", session: "s1" };

async function entriesOf(folder: string): Promise<SessionLogEntry[]> {
  const text = await readFile(join(folder, "log.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as SessionLogEntry);
}

/** Time of this thread alone, user and system together: the kernel splits the two only roughly. */
function costOf(take: () => unknown): number {
  const before = process.threadCpuUsage();
  for (let times = 0; times < 50; times += 1) take();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

test("what host, agent and container say is kept with time and source, escaped", async () => {
  await using folder = await temporaryFolder();
  const log = new SessionLog(join(folder.path, "s1"), names, new SteeredClock());

  log.write("host", "info", "started");
  log.write("agent", "warn", "odd \u001b[31m\nline");

  expect(await entriesOf(join(folder.path, "s1"))).toEqual([
    { time: "1970-01-01T00:16:40.000Z", ...names, source: "host", level: "info", text: "started" },
    { time: "1970-01-01T00:16:40.000Z", ...names, source: "agent", level: "warn", text: "odd \\u{1b}[31m\\nline" },
  ]);
  expect((await stat(join(folder.path, "s1"))).mode & 0o777).toBe(0o700);
});

test("output is split into the same lines, however the bytes arrive", async () => {
  await fc.assert(
    fc.asyncProperty(
      // What nobody can see is escaped, which the test before this one shows.
      fc.array(fc.string({ unit: "grapheme", maxLength: 30 }).filter((line) => visible(line) === line)),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      async (lines, sizes) => {
        await using folder = await temporaryFolder();
        const log = new SessionLog(folder.path, names, new SteeredClock());
        const output = log.outputOf("container");
        log.write("host", "info", "begin");

        const bytes = Buffer.from(lines.join("\n"));
        for (let at = 0; at < bytes.length;) {
          const size = sizes.next().value;
          output.push(bytes.subarray(at, at + size));
          at += size;
        }
        output.end();

        const texts = (await entriesOf(folder.path)).slice(1).map((entry) => entry.text);
        expect(texts).toEqual(lines.filter((line) => line !== ""));
      },
    ),
    { numRuns: 30 },
  );
});

test("a flood is cut off, says so, and does not drown the other sources", async () => {
  await using folder = await temporaryFolder();
  const clock = new SteeredClock();
  const log = new SessionLog(folder.path, names, clock);

  for (let line = 0; line < 100_000; line += 1) log.write("container", "info", `line ${line}`);
  log.write("host", "info", "still heard");
  clock.ms += 2_000;
  log.write("container", "info", "calm again");

  const texts = (await entriesOf(folder.path)).map((entry) => entry.text);
  expect(texts).toHaveLength(500 + 4);
  expect(texts.slice(500)).toEqual([
    "Output comes too fast; lines are left out.",
    "still heard",
    "99500 lines were left out.",
    "calm again",
  ]);
});

test("a flood is counted line by line, however its bytes come, and costs little more than its bytes", async () => {
  await using folder = await temporaryFolder();
  const clock = new SteeredClock();
  const log = new SessionLog(folder.path, names, clock);
  const output = log.outputOf("container");
  const piece = Buffer.from("y\n\n\r\nü\r\n".repeat(4_000));

  for (let at = 0; at < piece.length; at += 1_001) output.push(piece.subarray(at, at + 1_001));
  clock.ms += 2_000;
  output.push(Buffer.from("calm again\n"));
  const lines = Buffer.from("y\n".repeat(32_768));
  const [, pushing, splitting] = [
    costOf(() => output.push(lines)),
    costOf(() => output.push(lines)),
    costOf(() => lines.toString().split("\n")),
  ];

  const texts = (await entriesOf(folder.path)).map((entry) => entry.text);
  expect(texts.slice(498, 503)).toEqual([
    "y",
    "ü",
    "Output comes too fast; lines are left out.",
    "7500 lines were left out.",
    "calm again",
  ]);
  // Lines that are written or refused one by one cost several times as much as splitting them.
  expect(pushing / splitting).toBeLessThan(2);
});

test("a container that talks all day fills files of one mebibyte, each told about when it is closed", async () => {
  await using folder = await temporaryFolder();
  const clock = new SteeredClock();
  const closed: unknown[] = [];
  const log = new SessionLog(folder.path, names, clock, { onClosed: (session) => void closed.push(session) });

  for (let line = 0; line < 2_000; line += 1) {
    clock.ms += 1_000;
    log.write("container", "info", "x".repeat(100_000));
  }

  const files = await readdir(folder.path);
  expect(files).toHaveLength(8);
  expect(closed).toEqual(Array.from({ length: 7 }, () => names));
  for (const name of files) {
    const { size } = await stat(join(folder.path, name));
    expect(size).toBeLessThanOrEqual(1024 * 1024);
    expect(size).toBeGreaterThan(0);
  }
});

test("a line without end does not grow in memory and is cut in the log", async () => {
  await using folder = await temporaryFolder();
  const log = new SessionLog(folder.path, names, new SteeredClock());
  const output = log.outputOf("container");

  for (let piece = 0; piece < 100; piece += 1) output.push(Buffer.from("x".repeat(1_000)));
  output.end();

  for (const entry of await entriesOf(folder.path)) expect(entry.text.length).toBeLessThan(5_100);
});

test("logs are read in the order of time, across sessions and the host, or for one group", async () => {
  await using folder = await temporaryFolder();
  const clock = new SteeredClock();
  const logs = new SessionLogs(join(folder.path, "sessions"), clock);
  const query = { sessionsFolder: join(folder.path, "sessions"), hostLog: join(folder.path, "host.log") };

  logs.of({ id: "s1", group: "family" }).write("host", "info", "first");
  clock.ms += 1;
  logs.of({ id: "s2", group: "work" }).write("host", "info", "second");
  clock.ms += 1;
  logs.of({ id: "s1", group: "family" }).write("host", "info", "third");

  expect((await readLogs(query, 10)).map((line) => line.text)).toEqual(["first", "second", "third"]);
  expect((await readLogs(query, 1)).map((line) => line.text)).toEqual(["third"]);
  expect((await readLogs({ ...query, group: "work" }, 10)).map((line) => line.text)).toEqual(["second"]);
});

test("following shows what comes, also from new sessions and across a rotation, once", async () => {
  await using folder = await temporaryFolder();
  const sessionsFolder = join(folder.path, "sessions");
  const clock = new SteeredClock();
  const logs = new SessionLogs(sessionsFolder, clock);
  const say = (session: string, text: string): void => {
    clock.ms += 1_000;
    logs.of({ id: session, group: "family" }).write("host", "info", text);
  };
  say("s1", "before");
  const ended = new AbortController();
  const lines = followLogs({ sessionsFolder, hostLog: join(folder.path, "host.log") }, 10, ended.signal);
  const next = async (): Promise<string> => ((await lines.next()).value as { text: string }).text;

  expect(await next()).toBe("before");
  say("s1", "one");
  expect(await next()).toBe("one");
  say("s2", "two");
  expect(await next()).toBe("two");
  const heard: string[] = [];
  const wanted = Array.from({ length: 300 }, (_, index) => `${index} ${"x".repeat(3_900)}`);
  for (const text of wanted) say("s1", text);
  for (const _ of wanted) heard.push(await next());

  expect(heard).toEqual(wanted);
  ended.abort();
  expect((await lines.next()).done).toBe(true);
});
