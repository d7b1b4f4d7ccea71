import { readdir, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { genesisHash, recordHash } from "../../../src/audit/record.ts";
import { type AuditHome, auditHome } from "./audit-home.ts";

const first = "audit-2026-01-15.jsonl";
const second = "audit-2026-01-16.jsonl";

/** A log over two days, with three checkpoints. */
async function twoDays(): Promise<AuditHome> {
  const home = await auditHome();
  await home.record(3);
  await home.record(2);
  home.clock.set("2026-01-16T09:00:00.000Z");
  await home.record(3);
  return home;
}

test("an untouched log is found good, and the result says what that proves and what it does not", async () => {
  await using home = await twoDays();

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

test("whichever single byte is changed, it is found, and the record it stands in is named", async () => {
  await using home = await auditHome();
  await home.record(2);
  await home.record(2);
  const path = join(home.folder, first);
  const whole = await readFile(path);
  const starts = [0, ...[...whole.keys()].filter((at) => whole[at] === 0x0a).map((at) => at + 1)];

  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole);
    changed[at] = (whole[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(path, changed);
    const seq = starts.findLastIndex((start) => start <= at) + 1;

    expect(await home.verify({ index: undefined }), `byte ${at}`).toMatchObject({ ok: false, firstBadSeq: seq });
  }
  await writeFile(path, whole);
  expect(await home.verify()).toMatchObject({ ok: true });
});

test("whichever single byte of the checkpoints is changed, it is found", async () => {
  await using home = await auditHome();
  await home.record(2);
  await home.record(2);
  const path = join(home.folder, "checkpoints");
  const whole = await readFile(path);

  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole);
    changed[at] = (whole[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(path, changed);

    expect(await home.verify({ index: undefined }), `byte ${at}`).toMatchObject({ ok: false });
  }
});

/** Ways to falsify a list of lines; each gives other lines than it got. */
const falsification = fc
  .tuple(
    fc.constantFrom("delete", "duplicate", "swap", "insert", "truncate", "move", "replace"),
    fc.nat({ max: 7 }),
    fc.nat({ max: 7 }),
  )
  .map(([kind, from, to]) => {
    return (lines: readonly string[]): string[] => {
      const line = lines[from] ?? "";
      switch (kind) {
        case "delete":
          return lines.toSpliced(from, 1);
        case "duplicate":
          return lines.toSpliced(to, 0, line);
        case "swap":
          return lines.with(from, lines[to] ?? "").with(to, line);
        case "insert":
          return lines.toSpliced(to, 0, forge(line, from));
        case "truncate":
          return lines.slice(0, from);
        case "move":
          return lines.toSpliced(from, 1).toSpliced(to, 0, line);
        default:
          return lines.with(from, forge(line, from));
      }
    };
  });

function forge(line: string, number: number): string {
  return line.replace(/"data":\{[^}]*\}/, `"data":{"forged":${number}}`);
}

test("lines that are deleted, doubled, swapped, moved, put in, replaced or cut off are found", async () => {
  await using home = await twoDays();
  const original = await home.lines();

  await fc.assert(
    fc.asyncProperty(fc.array(falsification, { minLength: 1, maxLength: 3 }), async (steps) => {
      const lines = steps.reduce((before, step) => step(before), original);
      const days = [lines.slice(0, 5), lines.slice(5)];
      for (const [index, name] of [first, second].entries()) {
        await writeFile(join(home.folder, name), (days[index] ?? []).map((line) => `${line}\n`).join(""));
      }
      const same = lines.join("\n") === original.join("\n");

      for (const index of [home.store.audit, undefined]) {
        const result = await home.verify({ index });
        expect(result.ok).toBe(same);
        if (same) continue;
        const firstDifference = original.findIndex((line, at) => line !== lines[at]);
        expect(result.firstBadSeq).toBe(firstDifference < 0 ? original.length + 1 : firstDifference + 1);
      }
    }),
    { numRuns: 150 },
  );
});

test("a file that is removed, renamed, doubled or swapped with another is found", async () => {
  await using home = await twoDays();
  const copy = await home.copy();
  const at = (name: string) => join(home.folder, name);
  const attacks: [string, () => Promise<void>, number][] = [
    ["first removed", () => unlink(at(first)), 1],
    ["second removed", () => unlink(at(second)), 6],
    ["renamed to an earlier day", () => rename(at(first), at("audit-2026-01-14.jsonl")), 1],
    ["moved behind the other", () => rename(at(first), at("audit-2026-01-17.jsonl")), 1],
    ["doubled", async () => writeFile(at("audit-2026-01-17.jsonl"), await readFile(at(first))), 9],
    ["checkpoints of nothing", async () => Promise.all([unlink(at(first)), unlink(at(second))]).then(() => {}), 1],
  ];

  for (const [what, attack, firstBadSeq] of attacks) {
    await attack();
    expect(await home.verify({ index: undefined }), what).toMatchObject({ ok: false, firstBadSeq });
    await home.restore(copy);
  }
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

test("checkpoints that are removed, doubled, reordered or put back are found or counted as missing", async () => {
  await using home = await twoDays();
  const path = join(home.folder, "checkpoints");
  const whole = await readFile(path, "utf8");
  const notes = whole.match(/[^—]*—[^\n]*\n\n/g) ?? [];
  const [one = "", two = "", three = ""] = notes;
  const verifyWith = async (text: string) => {
    await writeFile(path, text);
    return home.verify({ index: undefined });
  };

  expect(notes).toHaveLength(3);
  for (const text of [
    two + three,
    one + three,
    one + two + two + three,
    one + three + two,
    whole + one,
    whole + whole,
  ]) {
    expect(await verifyWith(text)).toMatchObject({ ok: false, file: "checkpoints" });
  }
  expect(await verifyWith(one + two)).toMatchObject({ ok: true, checkpoints: 2, unanchoredTail: 3 });
  expect(await verifyWith("")).toMatchObject({ ok: true, checkpoints: 0, unanchoredTail: 8 });
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
  const rewritten = await home.open({ index: { head: async () => undefined, append: async () => {} } });
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

test("two hosts that wrote into one log are reported as a fork", async () => {
  await using home = await auditHome();
  await home.record(2);
  const apart = { head: async () => undefined, append: async () => {} };
  const one = await home.open({ index: apart });
  const two = await home.open({ index: apart });
  await one.append({ type: "message-in", actor: "ann", data: { by: 1 } });
  await two.append({ type: "message-in", actor: "ann", data: { by: 2 } });

  expect(await home.verify()).toMatchObject({ ok: false, firstBadSeq: 3, reason: expect.stringContaining("fork") });
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
});

test("a log can be verified while the host goes on writing it", async () => {
  await using home = await auditHome();
  await using log = await home.open();
  let writing = true;
  const writer = (async () => {
    while (writing) await log.append({ type: "message-in", actor: "ann", data: { text: "x".repeat(1_500) } });
  })();

  for (let round = 0; round < 30; round += 1) expect(await home.verify()).toMatchObject({ ok: true });

  writing = false;
  await writer;
});

test("a hostile log cannot exhaust the verification", async () => {
  await using home = await auditHome();
  await home.record(2);
  const path = join(home.folder, first);
  const good = await readFile(path);
  await writeFile(path, Buffer.concat([good, Buffer.alloc(30_000_000, "x"), Buffer.from("\n")]));
  expect(await home.verify()).toMatchObject({ records: 2 });
  for (const line of ["[]", "null", "{}", "[".repeat(50_000), '{"v":1,"seq":3}', '{"__proto__":1}', "\u0000"]) {
    await writeFile(path, Buffer.concat([good, Buffer.from(`${line}\n`)]));
    expect(await home.verify(), line).toMatchObject({ ok: false, firstBadSeq: 3 });
  }
  await writeFile(join(home.folder, "checkpoints"), "x".repeat(1_000_000));
  expect(await home.verify()).toMatchObject({ ok: false });
  expect((await readdir(home.folder)).length).toBeLessThan(5);
});

test("hashes are those of the published test vector", async () => {
  const text = await readFile(join(import.meta.dirname, "../../../docs/audit.md"), "utf8");
  const line = /^\{"v":1,.*\}$/m.exec(text)?.[0] ?? "";

  expect(text).toContain(genesisHash("example"));
  expect(JSON.parse(line)).toMatchObject({ seq: 1, prev: genesisHash("example") });
  expect(text).toContain(recordHash(Buffer.from(line)));
});
