import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";
import { expect, test } from "vitest";

import { AuditLog } from "../../../../src/records/audit/log/log.ts";
import { prepareHome } from "../../../../src/config/home/home.ts";
import { systemClock } from "../../../../src/lib/time/clock.ts";
import { crabpot, jsonLines, newHome, withoutEngine } from "../../../support/crabpot.ts";
import { openStoreAt } from "../../../support/open-store-at.ts";

/** Five records of a host that has ended in good order. */
async function writeLog(root: string): Promise<void> {
  const { paths, instance } = await prepareHome(root);
  await using store = await openStoreAt(paths.database);
  await using log = await AuditLog.open({
    folder: paths.audit,
    keyFolder: paths.keys,
    index: store.audit,
    clock: systemClock,
    instance,
    logger: pino({ level: "silent" }),
  });
  for (const group of ["family", "work", "family", "work"]) {
    await log.append({ type: "command", group, actor: "ann", data: { command: `new\u202e` } });
  }
  await log.append({ type: "host-stop", actor: "host", data: {} });
}

async function changeLog(home: string, change: (text: string) => string): Promise<void> {
  const folder = join(home, "audit");
  const name = (await readdir(folder)).find((file) => file.endsWith(".jsonl")) ?? "";
  await writeFile(join(folder, name), change(await readFile(join(folder, name), "utf8")));
}

test("an untouched log is intact, and its last record can be noted elsewhere as an anchor", async () => {
  await using place = await newHome();
  await writeLog(place.home);

  const result = await crabpot(place, "audit", "verify", "--json");
  const plain = await crabpot(place, "audit", "verify");

  expect(result.code).toBe(0);
  expect(jsonLines(result.stdout)).toMatchObject([{ ok: true, records: 5, gaps: [] }]);
  const { signer } = (jsonLines(result.stdout) as { signer: string }[])[0] ?? { signer: "" };
  const lines = plain.stdout.trimEnd().split("\n");
  expect(lines[0]).toBe(`valid: 5 records unbroken, signed by ${signer}`);
  expect(lines.findIndex((line) => line.startsWith("Not proved: "))).toBeGreaterThan(1);
  const { seq, hash } = (jsonLines(result.stdout) as { head: { seq: number; hash: string } }[])[0]?.head ?? {
    seq: 0,
    hash: "",
  };
  expect((await crabpot(place, "audit", "verify", "--anchor", `${seq}:${hash.slice(0, 12)}`)).code).toBe(0);
  expect((await crabpot(place, "audit", "verify", "--anchor", `${seq}:00000000`)).code).toBe(1);
});

test.for([
  ["a changed word", (text: string) => text.replace("work", "wart"), 2],
  ["a record that is gone", (text: string) => text.split("\n").toSpliced(2, 1).join("\n"), 3],
  ["an end that was cut off", (text: string) => text.split("\n").slice(0, 3).join("\n").concat("\n"), 4],
] as const)("%s is found and its place named, and the doctor is red", async ([, change, bad]) => {
  await using place = await newHome();
  await writeLog(place.home);
  await changeLog(place.home, change);

  const json = await crabpot(place, "audit", "verify", "--json");
  const plain = await crabpot(place, "audit", "verify");
  const doctor = await crabpot({ ...place, variables: withoutEngine }, "doctor", "--json");

  expect(json.code).toBe(1);
  expect(jsonLines(json.stdout)).toMatchObject([{ ok: false, firstBadSeq: bad }]);
  expect(plain.stdout).toMatch(new RegExp(`^BROKEN: the audit log was changed\\. Record ${bad}`));
  const found = jsonLines(doctor.stdout).find((result) => result["check"] === "audit");
  expect(found).toMatchObject({ ok: false, fix: expect.stringContaining("crabpot audit verify") });
});

test("records are shown, the newest or those of a group, without anything that steers a terminal", async () => {
  await using place = await newHome();
  await writeLog(place.home);

  const tail = await crabpot(place, "audit", "tail", "--lines", "2");
  const group = await crabpot(place, "audit", "export", "--group", "work");
  const later = await crabpot(place, "audit", "export", "--since", "2100-01-01");

  expect(tail.stdout.trimEnd().split("\n")).toHaveLength(3);
  expect(tail.stdout).toContain("host-stop");
  expect(jsonLines(group.stdout).map((record) => record["seq"])).toEqual([2, 4]);
  expect(tail.stdout + group.stdout).not.toContain("\u202e");
  expect(later).toMatchObject({ code: 0, stdout: "" });
});

test("a home without a log has nothing to hide", async () => {
  await using place = await newHome();

  const result = await crabpot(place, "audit", "verify", "--json");

  expect(result.code).toBe(0);
  expect(jsonLines(result.stdout)).toMatchObject([{ ok: true, records: 0 }]);
});

test.for(["x", "1:zz", "1:123"])("an anchor that is none (%s) is refused", async (anchor) => {
  await using place = await newHome();

  expect((await crabpot(place, "audit", "verify", "--anchor", anchor)).code).toBe(2);
});
