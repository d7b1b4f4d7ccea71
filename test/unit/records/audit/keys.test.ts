import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { resolve } from "node:path";

import { expect, test } from "vitest";

import { openKeys } from "../../../../src/records/audit/keys.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const fixture = resolve(import.meta.dirname, "../../../fixtures/audit/key-maker.ts");

test("a first start that cannot write, or ends before it has written, leaves no key that a later start would take for one", async () => {
  await using folder = await temporaryFolder();

  const failing = spawn("prlimit", ["--fsize=0", process.execPath, fixture, folder.path], { stdio: "ignore" });
  await once(failing, "exit");
  const keys = await openKeys(folder.path, "0123456789abcdef");
  const again = await openKeys(folder.path, "0123456789abcdef");

  expect(keys.salt).toHaveLength(32);
  expect(again.verification.id).toEqual(keys.verification.id);
  expect((await readdir(folder.path)).toSorted()).toEqual(["audit-ed25519.pem", "audit-ed25519.pub", "audit-salt"]);
});
