import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { createTurnEvents, type EventRecord } from "../../../src/wiring/events.ts";
import { LimitReporter } from "../../../src/wiring/limits.ts";
import { fingerprint } from "../../../src/audit/fingerprint.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { SessionLogs } from "../../../src/lib/session-log.ts";
import type { TurnScope } from "../../../src/turns/turn-parts.ts";
import { someGroup } from "../../support/some-group.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const canary = "canary-6b1f0e";
const call = { id: "1", name: "shell", input: { command: `echo ${canary}` } };

test("what a tool is given is in no log, only its length and keyed hash", async () => {
  await using folder = await temporaryFolder();
  const logs = new SessionLogs(folder.path, systemClock);
  const records: EventRecord[] = [];
  const record = async (entry: EventRecord): Promise<void> => void records.push(entry);
  const metrics = createMetrics(new Registry(), {
    intakeOpen: () => true,
    containersHot: () => 0,
    groupsWaiting: () => 0,
    outbox: async () => ({ queued: 0, sending: 0, accepted: 0, delivered: 0, uncertain: 0, dead: 0 }),
    channels: () => [],
  });
  const salt = Buffer.from("salt");
  const pace = { began: () => undefined, ended: () => undefined };
  const limits = new LimitReporter({ record, logs, clock: systemClock });
  const events = createTurnEvents({
    record,
    metrics,
    logs,
    limits,
    fingerprint: (text) => fingerprint(salt, text),
    pace,
  });
  const scope = { turn: { id: "t" }, session: { id: "s" }, group: someGroup("family") } as TurnScope;

  await events.toolCalls(scope, [call], [{ call: { ...call, id: "2" }, reason: "shell is denied here" }]);
  events.progress(scope, `shell: echo ${canary}`);
  events.gaveUp(scope, "there is no bash");

  const files = await readdir(folder.path, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "utf8")),
  );
  const { sha256 } = fingerprint(salt, JSON.stringify(call.input));
  expect(texts.join("")).toContain(sha256);
  expect(texts.join("")).toContain("the agent gave up: there is no bash");
  expect(texts.join("") + JSON.stringify(records)).not.toContain(canary);
});
