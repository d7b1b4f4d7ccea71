import { readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { openKeys } from "../../../../src/records/audit/keys.ts";
import { recordHash } from "../../../../src/records/audit/record.ts";
import { noteHash, noteLines, noteText, parseNote, signatureLine } from "../../../../src/records/audit/signed-note.ts";
import { type AuditHome, auditHome, forgetfulIndex } from "./audit-home.ts";

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

test("whichever single byte is changed, it is found, and the record it stands in is named", async () => {
  await using home = await auditHome();
  await home.record(2);
  await home.record(1);
  const path = join(home.folder, first);
  const whole = await readFile(path);
  const starts = [0, ...[...whole.keys()].filter((at) => whole[at] === 0x0a).map((at) => at + 1)];

  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole);
    changed[at] = (whole[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(path, changed);
    const seq = starts.findLastIndex((start) => start <= at) + 1;

    expect({ at, ...(await home.verify({ index: undefined })) }).toMatchObject({ ok: false, firstBadSeq: seq });
  }
  await writeFile(path, whole);
  expect(await home.verify()).toMatchObject({ ok: true });
});

test("whichever single byte of the checkpoints is changed, it is found", async () => {
  await using home = await auditHome();
  await home.record(2);
  await home.record(1);
  const path = join(home.folder, "checkpoints");
  const whole = await readFile(path);

  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole);
    changed[at] = (whole[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(path, changed);

    expect({ at, ...(await home.verify({ index: undefined })) }).toMatchObject({ ok: false });
  }
});

type Falsify = (lines: readonly string[], from: number, to: number) => string[];

const falsifications: Readonly<Record<string, Falsify>> = {
  delete: (lines, from) => lines.toSpliced(from, 1),
  duplicate: (lines, from, to) => lines.toSpliced(to, 0, lines[from] ?? ""),
  swap: (lines, from, to) => lines.with(from, lines[to] ?? "").with(to, lines[from] ?? ""),
  insert: (lines, from, to) => lines.toSpliced(to, 0, forge(lines[from] ?? "", from)),
  truncate: (lines, from) => lines.slice(0, from),
  move: (lines, from, to) => lines.toSpliced(from, 1).toSpliced(to, 0, lines[from] ?? ""),
  replace: (lines, from) => lines.with(from, forge(lines[from] ?? "", from)),
};

const step = fc.record({
  falsify: fc.constantFrom(...Object.values(falsifications)),
  from: fc.nat({ max: 7 }),
  to: fc.nat({ max: 7 }),
});

function forge(line: string, number: number): string {
  return line.replace(/"data":\{[^}]*\}/, `"data":{"forged":${number}}`);
}

test("lines that are deleted, doubled, swapped, moved, put in, replaced or cut off are found", async () => {
  await using home = await twoDays();
  const original = await home.lines();

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 3 }), async (steps) => {
      const lines = steps.reduce(
        (before, { falsify, from, to }) =>
          before.length === 0 ? before : falsify(before, from % before.length, to % before.length),
        original,
      );
      const days = [lines.slice(0, 5), lines.slice(5)];
      for (const [index, name] of [first, second].entries()) {
        await writeFile(join(home.folder, name), (days[index] ?? []).map((line) => `${line}\n`).join(""));
      }
      const different = lines.join("\n") !== original.join("\n");
      const place = original.concat("").findIndex((line, at) => line !== (lines[at] ?? "")) + 1;

      for (const index of [home.store.audit, undefined]) {
        const result = await home.verify({ index });
        expect(result.ok).toBe(!different);
        // Of two different records with one number either may be the forged one, so the number itself is named.
        const named = result.reason?.includes("fork") === true ? [place, place - 1] : [place];
        const exact = different && steps.length === 1;
        expect(exact ? named : [result.firstBadSeq]).toContain(result.firstBadSeq);
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
    [
      "all removed",
      async () => {
        await unlink(at(first));
        await unlink(at(second));
      },
      1,
    ],
  ];

  for (const [what, attack, firstBadSeq] of attacks) {
    await attack();
    expect({ what, ...(await home.verify({ index: undefined })) }).toMatchObject({ ok: false, firstBadSeq });
    await home.restore(copy);
  }
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

test("a checkpoint that goes back to an earlier record is found even when the home's own key signed it", async () => {
  await using home = await auditHome();
  await home.record(3);
  const path = join(home.folder, "checkpoints");
  const whole = await readFile(path, "utf8");
  const before = parseNote(whole.split("\n").slice(0, noteLines));
  const { verification, sign } = await openKeys(home.keyFolder, "0123abcd");
  const [line = ""] = await home.lines();
  const text = noteText({
    origin: verification.name,
    size: 1,
    head: recordHash(Buffer.from(line)),
    previous: noteHash(before?.note ?? ""),
    time: "2026-01-15T13:00:00.000Z",
  });

  await writeFile(path, `${whole}${text}\n${signatureLine(verification, sign(text))}\n\n`);

  expect(await home.verify()).toMatchObject({
    ok: false,
    file: "checkpoints",
    reason: "this checkpoint goes back from record 3 to 1",
  });
});

test("two hosts that wrote into one log are reported as a fork", async () => {
  await using home = await auditHome();
  await home.record(2);
  const head = await home.store.audit.head();
  const apart = { ...forgetfulIndex, head: async () => head };
  const one = await home.open({ index: apart });
  const two = await home.open({ index: apart });
  await one.append({ type: "message-in", actor: "ann", data: { by: 1 } });
  await two.append({ type: "message-in", actor: "ann", data: { by: 2 } });

  expect(await home.verify()).toMatchObject({ ok: false, firstBadSeq: 3, reason: expect.stringContaining("fork") });
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
});
