import { chmod, readdir, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { auditHome } from "./audit-home.ts";

const entry = { type: "message-in", actor: "ann", data: {} } as const;

test("a record that was promised is in the file, in the order of the calls, one line each", async () => {
  await using home = await auditHome();
  await using log = await home.open();

  const pending = Array.from({ length: 300 }, (_, number) => log.append({ ...entry, data: { number } }));
  await pending[0];
  const early = (await home.lines()).length;
  await Promise.all(pending);

  const records = (await home.lines()).map((line) => JSON.parse(line) as { seq: number; data: { number: number } });
  expect(early).toBeGreaterThanOrEqual(1);
  expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
  expect(records.map(({ data }) => data.number)).toEqual(Array.from({ length: 300 }, (_, index) => index));
});

test("a record says what, when, who and about whom", async () => {
  await using home = await auditHome();
  await using log = await home.open();

  await log.append({
    type: "tool-call",
    group: "family",
    session: "s",
    turn: "t",
    actor: "model",
    data: { name: "shell" },
  });

  expect(JSON.parse((await home.lines())[0] ?? "")).toEqual({
    v: 1,
    seq: 1,
    ts: "2026-01-15T12:00:00.001Z",
    mono: expect.any(Number),
    boot: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: "tool-call",
    group: "family",
    session: "s",
    turn: "t",
    actor: "model",
    data: { name: "shell" },
    prev: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("nothing that a stranger writes can end a line, steer a terminal or fill the log", async () => {
  await using home = await auditHome();
  await using log = await home.open();
  const cyclic: Record<string, unknown> = { hi: true };
  cyclic["self"] = cyclic;
  const evil = '\n{"v":1,"seq":99}\r\u2028\u001b[2J\u009b\u202e\u0000\ud800';

  await log.append({ ...entry, actor: `ann${evil}`, data: { evil, [evil]: evil } });
  await log.append({
    ...entry,
    data: { long: "x".repeat(5_000_000), cyclic, big: 10n ** 30n, run: () => 1, none: undefined },
  });
  await log.append({
    ...entry,
    data: Object.fromEntries(Array.from({ length: 5_000 }, (_, key) => [`k${key}`, "y".repeat(300)])),
  });
  await log.append({
    ...entry,
    actor: "a".repeat(100_000),
    data: { list: Array.from({ length: 5_000 }, () => "é".repeat(3_000)) },
  });

  const lines = await home.lines();
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(16 * 1024);
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  }
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ seq: 1, data: { evil: evil.toWellFormed() } });
  expect(await home.verify()).toMatchObject({ ok: true, records: 4 });
});

test("secrets are taken out of what is recorded, keys and names included", async () => {
  await using home = await auditHome();
  await using log = await home.open({ redact: (text) => text.replaceAll("hunter2", "[secret]") });

  await log.append({ ...entry, actor: "hunter2", data: { a: "is hunter2", hunter2: ["hunter2"] } });

  expect((await home.lines()).join("")).not.toContain("hunter2");
  expect((await home.lines()).join("")).toContain("is [secret]");
});

test("a text is recorded as a fingerprint that only this home's key can compare", async () => {
  await using home = await auditHome();
  await using other = await auditHome();
  await using log = await home.open();
  await using elsewhere = await other.open();

  const print = log.fingerprint("yes");

  expect(print).toEqual({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), chars: 3 });
  expect(log.fingerprint("yes")).toEqual(print);
  expect(log.fingerprint("no")).not.toEqual(print);
  expect(elsewhere.fingerprint("yes")).not.toEqual(print);
  await log[Symbol.asyncDispose]();
  await using again = await home.open();
  expect(again.fingerprint("yes")).toEqual(print);
});

test("only the owner can read log and keys", async () => {
  await using home = await auditHome();
  await home.record(1);

  for (const folder of [home.folder, home.keyFolder]) {
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  }
  expect((await readdir(home.keyFolder)).toSorted()).toEqual(["audit-ed25519.pem", "audit-ed25519.pub", "audit-salt"]);
});

test("each day has its file, and a clock that is set back never leads to an older one", async () => {
  await using home = await auditHome();
  await using log = await home.open();

  for (const time of ["2026-01-15T23:59:59.990Z", "2026-01-16T00:00:00.000Z", "2026-01-14T08:00:00.000Z"]) {
    home.clock.set(time);
    await log.append(entry);
  }
  home.clock.set("2026-01-16T23:59:59.998Z");
  await Promise.all([log.append(entry), log.append(entry)]);

  expect(await home.days()).toEqual(["audit-2026-01-15.jsonl", "audit-2026-01-16.jsonl", "audit-2026-01-17.jsonl"]);
  expect((await home.lines()).map((line) => (JSON.parse(line) as { ts: string }).ts.slice(0, 10))).toEqual([
    "2026-01-15",
    "2026-01-16",
    "2026-01-14",
    "2026-01-16",
    "2026-01-17",
  ]);
  expect(await home.verify()).toMatchObject({ ok: true, records: 5 });
});

test("the head is signed every 256 records, and at the end", async () => {
  await using home = await auditHome();
  {
    await using log = await home.open();
    for (let part = 0; part < 4; part += 1) {
      await Promise.all(Array.from({ length: 150 }, () => log.append(entry)));
    }
    await expect.poll(() => home.verify()).toMatchObject({ checkpoints: 2 });
    expect((await home.verify()).unanchoredTail).toBeLessThan(256);
  }
  expect(await home.verify()).toMatchObject({ ok: true, records: 600, checkpoints: 3, unanchoredTail: 0 });
});

test("a record does not stay unsigned for long, also when it was left unsigned by a host that died", async () => {
  await using home = await auditHome();
  {
    await using log = await home.open({ checkpointAfterMs: 5 });
    await log.append(entry);
    await expect.poll(() => home.verify()).toMatchObject({ checkpoints: 1, unanchoredTail: 0 });
    await log.append(entry);
    await expect.poll(() => home.verify()).toMatchObject({ checkpoints: 2, unanchoredTail: 0 });
  }
  // It ends after everything has been checked: until then, nobody has closed it.
  await using abandoned = await home.open();
  await abandoned.append(entry);
  expect(await home.verify()).toMatchObject({ ok: true, unanchoredTail: 1 });

  await using log = await home.open({ checkpointAfterMs: 5 });

  expect(log.head.seq).toBe(3);
  await expect.poll(() => home.verify()).toMatchObject({ ok: true, checkpoints: 3, unanchoredTail: 0 });
});

test("a host goes on where the last one ended", async () => {
  await using home = await auditHome();
  await home.record(3);
  await home.record(2);

  const boots = (await home.lines()).map((line) => (JSON.parse(line) as { boot: string }).boot);

  expect(await home.verify()).toMatchObject({ ok: true, records: 5, checkpoints: 2, gaps: [] });
  expect(new Set(boots).size).toBe(2);
  expect(await home.store.audit.head()).toEqual((await home.verify()).head);
});

test("what cannot be written is refused, and the next record that can be says how many are missing", async () => {
  await using home = await auditHome();
  await using log = await home.open();
  await log.append(entry);
  await rename(home.folder, `${home.folder}.away`);
  home.clock.set("2026-01-16T00:00:00.000Z");

  const refused = await Promise.allSettled([log.append(entry), log.append(entry)]);
  await expect(log.append(entry)).rejects.toMatchObject({
    code: "audit_broken",
    message: expect.stringContaining(home.folder),
  });
  await rename(`${home.folder}.away`, home.folder);
  await log.append({ ...entry, data: { after: true } });

  expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await home.verify()).toMatchObject({
    ok: true,
    records: 3,
    gaps: [{ seq: 2, type: "audit-gap", data: { lost: 3 } }],
  });
});

test("a closed log refuses records, and closing waits for those that were asked for", async () => {
  await using home = await auditHome();
  const log = await home.open();
  const pending = Array.from({ length: 10 }, () => log.append(entry));

  await log[Symbol.asyncDispose]();

  await Promise.all(pending);
  await expect(log.append(entry)).rejects.toMatchObject({ code: "audit_broken" });
  expect(await home.verify()).toMatchObject({ ok: true, records: 10, unanchoredTail: 0 });
});

test("an index that fails does not stop the log; it catches up with the next record or start", async () => {
  await using home = await auditHome();
  let fails = true;
  const { audit } = home.store;
  const index = {
    head: () => audit.head(),
    signed: () => audit.signed(),
    willSign: (seq: number) => audit.willSign(seq),
    append: (records: Parameters<typeof audit.append>[0]) =>
      fails ? Promise.reject(new Error("locked")) : audit.append(records),
  };
  const log = await home.open({ index });
  await log.append(entry);
  await log.append(entry);
  expect(await audit.head()).toBeUndefined();

  fails = false;
  await log.append(entry);
  await expect.poll(() => audit.head()).toMatchObject({ seq: 3 });
  fails = true;
  await log.append(entry);
  await log[Symbol.asyncDispose]();
  await using next = await home.open();

  expect(next.head.seq).toBe(4);
  expect(await audit.head()).toEqual(next.head);
  expect(await home.verify()).toMatchObject({ ok: true, records: 4, gaps: [] });
});

test("keys that cannot be read are named, and an instance that cannot name a log is refused", async () => {
  await using home = await auditHome();
  await home.record(1);
  const key = join(home.keyFolder, "audit-ed25519.pem");
  expect(await readFile(key, "utf8")).toContain("PRIVATE KEY");
  await rename(key, `${key}.old`);
  await rename(join(home.keyFolder, "audit-salt"), key);
  await chmod(key, 0o600);

  await expect(home.open()).rejects.toMatchObject({
    code: "audit_broken",
    message: expect.stringContaining(home.keyFolder),
  });
  await expect(home.open({ instance: "two words" })).rejects.toMatchObject({ code: "bad_input" });
});
