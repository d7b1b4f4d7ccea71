import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";
import { expect, test } from "vitest";

import { auditEntryOf } from "../../../../src/records/audit/event-records.ts";
import { fingerprint } from "../../../../src/records/audit/fingerprint.ts";
import { EventBus } from "../../../../src/records/events/event-bus.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";
import { writeEventLines } from "../../../../src/records/session-logs/event-lines.ts";
import { SessionLogs } from "../../../../src/records/session-logs/session-log.ts";
import { publishToolCalls, publishToolResults } from "../../../../src/turns/tool-calls/tool-events.ts";
import type { TurnScope } from "../../../../src/turns/turn-scope.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import { someGroup } from "../../../support/some-group.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const canary = "canary-6b1f0e";
const call = { id: "1", name: "shell", input: { command: `echo ${canary}` } };
const scope = { turn: { id: "t" }, session: { id: "s" }, group: someGroup("family") } as TurnScope;

test("what a tool is given and gives back is in no log, event or record, only its length and hash", async () => {
  await using folder = await temporaryFolder();
  await using opened = await openTestStore();
  const records: unknown[] = [];
  const salt = Buffer.from("salt");
  using bus = new EventBus({
    store: opened.store.events,
    record: async (event) => void records.push(auditEntryOf(event)),
    redact: (text) => text,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  const logs = bus.subscribe("logs", writeEventLines(new SessionLogs(folder.path, systemClock)));
  const parts = { publish: bus.publish, fingerprint: (text: string) => fingerprint(salt, text) };

  const verdict = { action: "allow", risk: "high", rule: "default" } as const;
  const refused = { action: "deny", risk: "high", rule: "rules[0]" } as const;
  const denied = [{ call: { ...call, id: "2" }, verdict: refused, reason: "shell is denied here" }];
  await publishToolCalls(scope, parts, { allowed: [{ call, verdict }], asked: [], denied, origins: ["member", "web"] });
  const results = [{ callId: "1", output: canary, isError: false }];
  await publishToolResults(scope, parts, { calls: [call], results });
  logs[Symbol.dispose]();

  const files = await readdir(folder.path, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "utf8")),
  );
  const stored = await opened.store.events.after(0, {}, 10);
  const { sha256 } = fingerprint(salt, JSON.stringify(call.input));
  expect(texts.join("")).toContain(sha256);
  expect(texts.join("")).toContain("tool shell is denied: shell is denied here");
  expect(JSON.stringify([texts, records, stored])).not.toContain(canary);
  expect(records.slice(0, 2)).toMatchObject([
    { type: "tool-call", data: { risk: "high", rule: "default", origins: ["member", "web"] } },
    { type: "tool-denied", data: { risk: "high", rule: "rules[0]", origins: ["member", "web"] } },
  ]);
  expect(records.at(-1)).toEqual({
    type: "tool-result",
    group: "family",
    session: "s",
    turn: "t",
    actor: "agent",
    data: {
      id: "1",
      name: "shell",
      // Of the text as it is stored: `printf canary-6b1f0e | sha256sum`.
      sha256: "7b4f9bde04512a167b72dba36b962d9fb192f757ad5f4fcd1afeba9965af5079",
      bytes: 13,
      isError: false,
    },
  });
});
