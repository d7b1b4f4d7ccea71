import { spawnSync } from "node:child_process";
import { createPrivateKey, sign } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { genesisHash, recordHash } from "../../../../src/records/audit/record.ts";
import {
  formatVerificationKey,
  keyId,
  noteHash,
  noteText,
  originOf,
  signatureLine,
} from "../../../../src/records/audit/signed-note.ts";
import { auditHome } from "./audit-home.ts";

const page = await readFile(join(import.meta.dirname, "../../../../docs/audit.md"), "utf8");

test("the published test vector is what the log writes", () => {
  const line = /^\{"v":1,.*\}$/m.exec(page)?.[0] ?? "";
  const name = originOf("example");
  const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, 7)]);
  const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  const publicKey = Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");
  const head = recordHash(Buffer.from(line));
  const previous = genesisHash("example");
  const text = noteText({ origin: name, size: 1, head, previous, time: "2026-01-15T12:01:00.000Z" });
  const signature = signatureLine({ name, id: keyId(name, publicKey) }, sign(null, Buffer.from(text), key));
  const note = `${text}\n${signature}\n`;

  expect(JSON.parse(line)).toMatchObject({ seq: 1, prev: previous });
  for (const value of [formatVerificationKey(name, publicKey), head, note, noteHash(note)])
    expect(page).toContain(value);
});

test("the published program agrees with the log about what is intact and what is not", async () => {
  await using home = await auditHome();
  await home.record(3);
  home.clock.set("2026-01-16T09:00:00.000Z");
  await home.record(300);
  const head = (await home.verify()).head;
  const program = join(home.path, "verify.mjs");
  await writeFile(program, /```js\n(.*?)```/s.exec(page)?.[1] ?? "");
  const run = (...anchor: string[]) => {
    const args = [program, home.folder, join(home.keyFolder, "audit-ed25519.pub"), ...anchor];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
    return { status, stdout };
  };

  expect(run("303", head?.hash ?? "")).toEqual({
    status: 0,
    stdout: `intact; signed up to record 303; anchor for later: 303 ${head?.hash}\n`,
  });
  expect(run("303", "00000000")).toMatchObject({ status: 1, stdout: expect.stringContaining("anchor") });
  for (const name of [...(await home.days()), "checkpoints"]) {
    const path = join(home.folder, name);
    const whole = await readFile(path);
    for (const at of [20, Math.floor(whole.length / 2), whole.length - 30]) {
      const changed = Buffer.from(whole);
      changed[at] = (whole[at] ?? 0) ^ 1;
      await writeFile(path, changed);
      expect({ name, at, ...run() }).toMatchObject({
        name,
        at,
        status: 1,
        stdout: expect.stringMatching(/^NOT INTACT/),
      });
    }
    await writeFile(path, whole);
  }
});
