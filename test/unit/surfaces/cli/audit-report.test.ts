import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { Store } from "../../../../src/stores/contract/store.ts";
import { type AnyEntry, writeAudit } from "../../../support/audit-report.ts";
import { crabpot, crabpotProcess, newHome } from "../../../support/crabpot.ts";

const january = ["--from", "2026-01-01", "--to", "2026-01-31"];

interface Entry {
  readonly record: number;
  readonly local: string;
  readonly name?: string;
  readonly text?: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Report {
  readonly kind: string;
  readonly version: number;
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly records: number;
  readonly verdict: Readonly<Record<string, unknown>>;
  readonly types: readonly Readonly<Record<string, unknown>>[];
  readonly days: readonly Readonly<Record<string, unknown>>[];
  readonly cost: Readonly<Record<"groups" | "models", readonly object[]>> & { readonly total: object };
  readonly usageRows: Readonly<Record<"members", readonly object[]>>;
  readonly sections: Readonly<Record<string, readonly Entry[]>>;
}

const asked: AnyEntry = {
  type: "message-in",
  group: "family",
  actor: "member:ann",
  data: {
    channel: "terminal",
    chat: "f",
    id: "m1",
    seq: 1,
    rule: "mention",
    state: "waiting",
    chars: 9,
    attachments: 0,
  },
};

function deny(reason: string, group = "family"): AnyEntry {
  return { type: "tool-denied", group, turn: "t-1", actor: "host", data: { id: "1", name: "shell", reason } };
}

/** Records of two groups on two days, and of the host. */
const entries: readonly AnyEntry[] = [
  { type: "host-start", actor: "host", data: { version: "1" } },
  asked,
  { type: "tool-call", group: "family", turn: "t-1", actor: "model", data: { id: "1", name: "shell" } },
  deny("not allowed here"),
  {
    type: "approval.asked",
    group: "family",
    actor: "agent",
    data: { code: "K7PQ2X", tool: "shell", digest: "ab12", risk: "high" },
  },
  {
    type: "approval.decided",
    group: "family",
    actor: "member:bea",
    data: { code: "K7PQ2X", decision: "allow", tool: "shell", digest: "ab12", scope: "once" },
  },
  {
    type: "model-response",
    group: "family",
    actor: "host",
    data: { model: "claude/small", usage: { inputTokens: 100, cachedInputTokens: 0, outputTokens: 7 }, usd: 0.25 },
  },
  { type: "egress", group: "family", actor: "agent", data: { host: "a.example", verdict: "refused", rule: "none" } },
  { type: "egress", group: "family", actor: "agent", data: { host: "b.example", verdict: "allowed", rule: "b" } },
  { at: "2026-01-16T23:30:00.000Z", type: "config-loaded", actor: "host", data: { sha256: "00" } },
  { type: "settings.changed", actor: "operator", data: { path: "policy" } },
  { ...deny("other business", "work") },
  { type: "redaction", group: "work", actor: "host", data: { count: 1 } },
  { type: "of-tomorrow", actor: "host", data: { what: "new" } },
  { at: "2026-02-03T00:00:00.000Z", type: "host-stop", actor: "host", data: {} },
];

async function fill(store: Store): Promise<void> {
  const sender = { id: "ann", name: 'Ann <script>alert("x")</script>' };
  const message = { channel: "terminal", chat: "f", id: "m1", sender, text: "@crab, hi", mention: true };
  await store.messages.insert(message, { group: "family", state: "waiting", at: 1 });
  await store.chats.memberSeen("family", sender, 1);
}

async function readReport(
  home: { readonly home: string },
  ...args: string[]
): Promise<{ code: number | null; report: Report }> {
  const { code, stdout } = await crabpot(home, "audit", "report", ...args, "--format", "json");
  return { code, report: JSON.parse(stdout) as Report };
}

test("a report tells report who asked, approved, ran and changed what, what was refused, and what it cost, without a host", async () => {
  await using place = await newHome();
  await writeAudit(place.home, entries, fill);

  const { code, report } = await readReport(place, ...january);

  expect(code).toBe(0);
  expect(report).toMatchObject({
    kind: "crabpot-audit-report",
    version: 1,
    from: "2026-01-01T00:00:00.000Z",
    to: "2026-02-01T00:00:00.000Z",
    records: 14,
    verdict: {
      ok: true,
      summary: expect.stringMatching(
        /^UNBROKEN: the 15 records .*from record 1 to record 14\. They are signed by crabpot/,
      ),
      first: { record: 1 },
      last: { record: 14 },
    },
    cost: {
      total: { calls: 1, usd: 0.25 },
      groups: [{ name: "family", inputTokens: 100 }],
      models: [{ name: "claude/small" }],
    },
  });
  const told = Object.entries(report.sections).map(([name, rows]) => [name, rows.map(({ record }) => record)]);
  expect(Object.fromEntries(told)).toEqual({
    asked: [2],
    approvals: [5, 6],
    ran: [3, 9],
    refused: [4, 8, 12],
    changes: [10, 11],
    host: [1],
    alarms: [13],
    other: [14],
  });
  expect(report.sections["asked"]?.[0]).not.toHaveProperty("text");
  expect(report.sections["asked"]?.[0]?.name).toBe('"Ann script alert x script"');
  expect(report.types.reduce((sum, { records }) => sum + Number(records), 0)).toBe(14);
});

test("of one group nothing else is told, but for the starts and ends of the host", async () => {
  await using place = await newHome();
  await writeAudit(place.home, entries, fill);

  const { report } = await readReport(place, ...january, "--group", "work");

  const numbers = Object.values(report.sections).flatMap((rows) => rows.map(({ record }) => record));
  expect(numbers).toEqual([12, 1, 13]);
  expect(JSON.stringify(report)).not.toMatch(/family|K7PQ2X|a\.example/);
});

test("texts are told only when they are asked for, and only those that are of the message on record", async () => {
  await using place = await newHome();
  const other = { ...asked, data: { ...asked.data, id: "m2", seq: 2 } };
  const wrong = { ...asked, data: { ...asked.data, id: "m9", seq: 1 } };
  await writeAudit(place.home, [asked, other, wrong], fill);

  const { report } = await readReport(place, ...january, "--texts");

  expect(report.sections["asked"]?.map(({ text }) => text)).toEqual(["@crab, hi", null, null]);
  expect((await crabpot(place, "audit", "report", ...january, "--texts")).stdout).toContain("@crab, hi");
  expect((await crabpot(place, "audit", "report", ...january)).stdout).not.toContain("@crab, hi");
});

test("days are those of the operator's time zone; a date of --to is included, a time is not", async () => {
  await using place = await newHome({ "config.yaml": "timezone: Europe/Berlin\n" });
  await writeAudit(place.home, entries, fill);

  const whole = await readReport(place, "--from", "2026-01-17", "--to", "2026-01-17");
  const moment = await readReport(place, "--from", "2026-01-17T00:30", "--to", "2026-01-17T00:30:00.002+01:00");

  expect(whole.report).toMatchObject({
    from: "2026-01-16T23:00:00.000Z",
    to: "2026-01-17T23:00:00.000Z",
    timeZone: "Europe/Berlin",
    days: [{ day: "2026-01-17", refused: 1 }],
  });
  expect(whole.report.sections["changes"]?.[0]?.local).toBe("2026-01-17 00:30:00 +01:00");
  expect(whole.report.records).toBe(5);
  expect(moment.report.records).toBe(1);
});

test.for([
  [["--from", "2026-02-30", "--to", "2026-03-01"], "--from 2026-02-30 is no date"],
  [["--from", "yesterday", "--to", "2026-03-01"], "--from yesterday is no date"],
  [["--from", "2026-03-02", "--to", "2026-03-01"], "There is no time between"],
  [["--from", "2026-03-02"], "--to"],
  [[...january, "--format", "pdf"], "pdf"],
] as const)("%j is refused", async ([args, reason]) => {
  await using place = await newHome();

  const result = await crabpot(place, "audit", "report", ...args);

  expect(result.code).toBe(2);
  expect(result.stderr).toContain(reason);
});

async function change(home: string, edit: (text: string) => string): Promise<void> {
  const folder = join(home, "audit");
  const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(".jsonl")).toSorted();
  await writeFile(join(folder, name), edit(await readFile(join(folder, name), "utf8")));
}

test.for([
  ["a changed record", (text: string) => text.replace("not allowed here", "allowed here"), 4],
  ["a record that is none", (text: string) => text.replace(/\n\{"v":1,"seq":5,.*\n/, "\nnothing\n"), 5],
] as const)(
  "of a log with %s only what comes before it is told, with where it is, and exit 1",
  async ([, edit, bad]) => {
    await using place = await newHome();
    await writeAudit(place.home, entries, fill);
    await change(place.home, edit);

    const { code, report } = await readReport(place, ...january);
    const plain = await crabpot(place, "audit", "report", ...january);

    expect(code).toBe(1);
    expect(report.verdict).toMatchObject({ ok: false, firstBadRecord: bad, last: { record: bad - 1 } });
    expect(report.records).toBe(bad - 1);
    expect(plain.code).toBe(1);
    expect(plain.stdout).toMatch(new RegExp(`^# Audit report\\s+\\*\\*BROKEN at record ${bad} \\(audit-2026-01-15`));
    expect(plain.stderr).toContain(`broken at record ${bad}`);
  },
);

test("a home without a log has a report with nothing in it", async () => {
  await using place = await newHome();

  const { code, report } = await readReport(place, ...january);

  expect(code).toBe(0);
  expect(report).toMatchObject({ records: 0, verdict: { ok: true, first: null, head: null } });
});

test("--out writes a file that only its owner reads, and nothing is left in the folder for temporary files", async () => {
  await using place = await newHome();
  await writeAudit(place.home, entries, fill);
  const file = join(place.home, "..", "report.html");
  const temporary = join(place.home, "..", "temporary");
  await mkdir(temporary);
  const run = { home: place.home, variables: { TMPDIR: temporary } };

  const result = await crabpotProcess(run, "audit", "report", ...january, "--format", "html", "--out", file);
  const refused = await crabpotProcess(
    run,
    "audit",
    "report",
    ...january,
    "--out",
    join(place.home, "none", "report.md"),
  );

  expect(result).toMatchObject({ code: 0, stdout: "" });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, "utf8")).toMatch(/^<!doctype html>[^]*<\/html>\n$/);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("could not be written") });
  expect(await readdir(temporary)).toEqual([]);
});
