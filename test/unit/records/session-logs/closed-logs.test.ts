import { appendFile, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";
import { expect, test } from "vitest";

import { auditEntryOf } from "../../../../src/records/audit/event-records.ts";
import { AuditLog } from "../../../../src/records/audit/log/log.ts";
import { readAudit } from "../../../../src/records/audit/read.ts";
import { homePaths } from "../../../../src/config/home/home.ts";
import type { NewEvent } from "../../../../src/domain/events/event.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";
import { ClosedLogs } from "../../../../src/records/session-logs/closed-logs.ts";
import { SessionLogs } from "../../../../src/records/session-logs/session-log.ts";
import { crabpot, jsonLines, newHome } from "../../../support/crabpot.ts";
import { openStoreAt } from "../../../support/open-store-at.ts";

const kilobyte = 1_024;
const logger = pino({ level: "silent" });

/** Logs of a host in a home: 8 KiB each, 32 KiB per group. */
async function startLogs(home: string) {
  await using stack = new AsyncDisposableStack();
  const paths = homePaths(home);
  const store = stack.use(await openStoreAt(paths.database));
  const parts = { index: store.audit, clock: systemClock, instance: "0123abcd", logger };
  const audit = stack.use(await AuditLog.open({ folder: paths.audit, keyFolder: paths.keys, ...parts }));
  const publish = async (event: NewEvent): Promise<void> => {
    const entry = auditEntryOf(event);
    if (entry) await audit.append(entry);
  };
  const { sessions } = store;
  const folder = paths.sessions;
  const sizes = { groupBytes: 32 * kilobyte, fileBytes: 8 * kilobyte };
  const ids = [
    await sessions.open("one", "family"),
    await sessions.open("two", "family"),
    await sessions.open("three", "work"),
  ];
  const closed = stack.use(new ClosedLogs({ folder, sessions, ...sizes, publish, logger }));
  const logs = new SessionLogs(folder, systemClock, {
    onClosed: (session) => closed.closed(session),
    fileBytes: sizes.fileBytes,
  });
  const owned = stack.move();
  return {
    sessions: ids.map(({ id }) => id),
    /** About as many kilobytes, on lines of one. */
    write: (session: string, group: string, kilobytes: number): void => {
      const log = logs.of({ id: session, group });
      for (let line = 0; line < kilobytes; line += 1) log.write("container", "info", `${line} ${"x".repeat(900)}`);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test("full logs of a group take no more than they may, the oldest go first, and all of it is on record", async () => {
  await using place = await newHome();
  const paths = homePaths(place.home);
  const { sessions, ...host } = await startLogs(place.home);
  const [one = "", two = "", three = ""] = sessions;
  host.write(one, "family", 40);
  host.write(three, "work", 20);
  host.write(two, "family", 30);
  await host[Symbol.asyncDispose]();

  const records = await Array.fromAsync(readAudit({ folder: paths.audit }));
  const folders = [one, two].map((session) => join(paths.sessions, session));
  const total = (await Promise.all(folders.map(sizeOf))).reduce((sum, size) => sum + size, 0);
  const of = (type: string) =>
    records.filter((record) => record.type === type).map(({ group, data }) => [group, data["file"]]);
  const verified = await crabpot(place, "audit", "verify");

  expect(total).toBeLessThanOrEqual(32 * kilobyte);
  expect(of("container-output").filter(([group]) => group === "work")).toHaveLength(2);
  expect(of("log-pruned").every(([group]) => group === "family")).toBe(true);
  expect(of("log-pruned")[0]).toEqual(["family", "log.jsonl.1"]);
  expect(await readdir(join(paths.sessions, two))).toContain("log.jsonl.3");
  expect(verified).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^valid: .*closed container logs unchanged/),
  });
});

test.each([
  ["changed", "was changed after it was closed", (path: string) => appendFile(path, "{}\n")],
  ["missing", "is missing, and no record says that it was removed", (path: string) => rm(path)],
] as const)("a closed log that is %s is found and named", async (_, words, tamper) => {
  await using place = await newHome();
  const {
    sessions: [session = ""],
    ...host
  } = await startLogs(place.home);
  host.write(session, "family", 20);
  await host[Symbol.asyncDispose]();
  const path = join(homePaths(place.home).sessions, session, "log.jsonl.1");
  const before = await crabpot(place, "audit", "verify", "--json");

  await tamper(path);
  const after = await crabpot(place, "audit", "verify", "--json");
  const inWords = await crabpot(place, "audit", "verify");

  expect(jsonLines(before.stdout)).toMatchObject([{ ok: true, outputs: 2 }]);
  expect(after.code).toBe(1);
  expect(jsonLines(after.stdout)).toMatchObject([
    { ok: false, outputs: 1, file: path, reason: expect.stringContaining(words) },
  ]);
  expect(inWords.stdout).toContain("BROKEN: a container log does not match the audit log.");
});

test("a log that was closed when the host was killed is on record after the next start, and is whole until then", async () => {
  await using place = await newHome();
  const folder = homePaths(place.home).sessions;
  const {
    sessions: [session = ""],
    ...host
  } = await startLogs(place.home);
  host.write(session, "family", 12);
  await host[Symbol.asyncDispose]();
  // As the kill leaves it after the record, and before it.
  const name = join(folder, session, "log.jsonl.1");
  await rename(name, `${name}.closing`);
  const between = await crabpot(place, "audit", "verify", "--json");
  const text = await readFile(`${name}.closing`, "utf8");
  await (await startLogs(place.home))[Symbol.asyncDispose]();

  const records = await Array.fromAsync(readAudit({ folder: homePaths(place.home).audit }));
  const digests = records.filter(({ type }) => type === "container-output").map(({ data }) => data["sha256"]);
  const after = await crabpot(place, "audit", "verify", "--json");

  expect(jsonLines(between.stdout)).toMatchObject([{ ok: true, outputs: 1 }]);
  expect(digests).toHaveLength(2);
  expect(digests[1]).toBe(digests[0]);
  expect(await readFile(name, "utf8")).toBe(text);
  expect(jsonLines(after.stdout)).toMatchObject([{ ok: true, outputs: 1 }]);
});
