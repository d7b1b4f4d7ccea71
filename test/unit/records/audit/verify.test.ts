import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { readLines } from "../../../../src/records/audit/log-files.ts";
import { genesisHash } from "../../../../src/records/audit/record.ts";
import { auditHome, forgetfulIndex } from "./audit-home.ts";

const first = "audit-2026-01-15.jsonl";

test("an untouched log is found good, and the result says what that proves and what it does not", async () => {
  await using home = await auditHome();

  for (const count of [3, 2, 3]) await home.record(count);

  const result = await home.verify();

  expect(result).toMatchObject({ ok: true, records: 8, checkpoints: 3, unanchoredTail: 0, gaps: [], unfinished: [] });
  expect(result.reason).toBeUndefined();
  expect(result.proves.join(" ")).toMatch(/Records 1 to 8.*home's key signed.*store remembers/);
  expect(result.doesNotProve.join(" ")).toMatch(/controls the machine/);
});

test("a log that was never written is good, empty, and proves nothing", async () => {
  await using home = await auditHome();

  expect(await home.verify()).toMatchObject({ ok: true, records: 0, head: undefined, proves: [] });
});

test("an older log put back together with its checkpoints is found by the store, or by an anchor", async () => {
  await using home = await auditHome();
  await home.record(3);
  const copy = await home.copy();
  await home.record(4);
  const anchor = (await home.verify()).head;
  await home.restore(copy);

  const alone = await home.verify({ index: undefined });

  expect(alone).toMatchObject({ ok: true, records: 3 });
  expect(alone.doesNotProve.join(" ")).toMatch(/store was not asked/);
  expect(await home.verify()).toMatchObject({ ok: false, firstBadSeq: 4, reason: expect.stringContaining("store") });
  expect(await home.verify({ index: undefined, anchor })).toMatchObject({
    ok: false,
    firstBadSeq: 4,
    reason: expect.stringContaining("anchor"),
  });
});

test("a long log without its checkpoints is not taken for one whose tail is unsigned", async () => {
  await using home = await auditHome();
  await home.record(1_100);
  await rm(join(home.folder, "checkpoints"));

  expect(await home.verify()).toMatchObject({ ok: false, reason: expect.stringContaining("checkpoint") });
});

test("a log of another home, or a key of another home, is not accepted", async () => {
  await using home = await auditHome();
  await using other = await auditHome();
  await home.record(2);
  await other.record(2);
  const publicKey = await readFile(join(other.keyFolder, "audit-ed25519.pub"), "utf8");

  expect(await home.verify({ publicKey })).toMatchObject({ ok: false, reason: expect.stringContaining("key") });
  expect(await home.verify({ keyFolder: join(home.path, "nowhere") })).toMatchObject({
    ok: false,
    reason: expect.stringContaining("public key"),
  });
  await expect(home.verify({ publicKey: "no key" })).rejects.toMatchObject({ code: "bad_input" });
  const keyless = await home.verify({ keyFolder: undefined });
  expect(keyless).toMatchObject({ ok: true });
  expect(keyless.doesNotProve.join(" ")).toMatch(/No public key/);
});

test("a log whose beginning was rewritten for this home is found by where it begins", async () => {
  await using home = await auditHome();
  const log = await home.open();
  await log.append({ type: "host-start", actor: "host", data: {} });
  const [line = ""] = await home.lines();

  await writeFile(join(home.folder, first), `${line.replace(genesisHash("0123abcd"), genesisHash("another"))}\n`);

  expect(await home.verify({ index: undefined })).toMatchObject({ ok: false, firstBadSeq: 1 });
  await log[Symbol.asyncDispose]();
});

test("whoever holds the key and rewrites everything is caught by the store or an anchor only, and that is said", async () => {
  await using home = await auditHome();
  await home.record(3);
  const anchor = (await home.verify()).head;
  await rm(home.folder, { recursive: true });
  const rewritten = await home.open({ index: forgetfulIndex });
  for (let number = 7; number < 12; number += 1) {
    await rewritten.append({ type: "message-in", actor: "ann", data: { number } });
  }
  await rewritten[Symbol.asyncDispose]();

  expect(await home.verify({ index: undefined })).toMatchObject({ ok: true, records: 5 });
  expect(await home.verify()).toMatchObject({ ok: false, firstBadSeq: 3 });
  const short = { seq: 3, hash: anchor?.hash.slice(0, 8) ?? "" };
  expect(await home.verify({ index: undefined, anchor: short })).toMatchObject({ ok: false, firstBadSeq: 3 });
  await expect(home.verify({ anchor: { seq: 3, hash: "abc" } })).rejects.toMatchObject({ code: "bad_input" });
});

test("a log can be verified while the host goes on writing it", async () => {
  await using home = await auditHome();
  await using log = await home.open();
  const stop = new AbortController();
  const writer = (async () => {
    while (!stop.signal.aborted)
      await log.append({ type: "message-in", actor: "ann", data: { text: "x".repeat(1_500) } });
  })();

  for (let round = 0; round < 30; round += 1) expect(await home.verify()).toMatchObject({ ok: true });

  stop.abort();
  await writer;
});

test("a hostile log cannot exhaust the verification", async () => {
  await using home = await auditHome();
  await home.record(2);
  const path = join(home.folder, first);
  const good = await readFile(path);
  await writeFile(path, Buffer.concat([good, Buffer.alloc(30_000_000, "x"), Buffer.from("\n")]));
  expect(await home.verify()).toMatchObject({ ok: false, firstBadSeq: 3, records: 2 });
  const long = await Array.fromAsync(readLines(path));
  expect(long.map(({ end }) => end)).toEqual(["line-feed", "line-feed", "too-long"]);
  expect(long.at(-1)?.bytes.length).toBeLessThan(200_000);
  for (const line of ["[]", "null", "{}", "[".repeat(50_000), '{"v":1,"seq":3}', '{"__proto__":1}', "\u0000"]) {
    await writeFile(path, Buffer.concat([good, Buffer.from(`${line}\n`)]));
    expect({ text: line, ...(await home.verify()) }).toMatchObject({ text: line, ok: false, firstBadSeq: 3 });
  }
  await writeFile(path, good);
  await writeFile(join(home.folder, "checkpoints"), "x".repeat(1_000_000));
  expect(await home.verify()).toMatchObject({ ok: false, file: "checkpoints" });
  expect((await readdir(home.folder)).length).toBeLessThan(5);
});

test.each([
  ["a FIFO", async (path: string) => promisify(execFile)("mkfifo", [path])],
  ["a link to a file", async (path: string) => symlink("/etc/hostname", path)],
  ["a folder", async (path: string) => mkdir(path)],
])("%s in the place of the log is named at once, by the verifier and by a host that starts", async (_what, make) => {
  await using home = await auditHome();
  await home.record(3);
  const [name = ""] = await home.days();
  await rm(join(home.folder, name));

  await make(join(home.folder, name));

  await expect(home.verify()).rejects.toThrow(`${name} is not a file`);
  await expect(home.open()).rejects.toThrow(`${name} is not a file`);
});
