import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import type { InstructionsChange } from "../../../../src/sandbox/workspace/protected-files.ts";
import { openProtectedFiles } from "../../../support/protected-files-rig.ts";

/** An allowed change of the instructions `before`; `begun` counts its starts. */
function allowedChange(before: string, text: string, more: Partial<InstructionsChange> = {}) {
  const begun: string[] = [];
  const change: InstructionsChange = {
    code: "K7M3QX",
    bytes: Buffer.from(text),
    base: createHash("sha256").update(before).digest("hex"),
    isBegun: false,
    begin: async (inUse) => void begun.push(inUse.toString()),
    ...more,
  };
  return { change, begun };
}

test("an allowed change takes the place of the instructions in use, as a file of the host", async () => {
  await using rig = await openProtectedFiles();
  await rig.operatorWrites("Be kind.\n");
  const { change, begun } = allowedChange("Be kind.\n", "Be brief.\n");

  expect(await rig.files.replace("family", change)).toBe("written");

  expect(await readFile(rig.at(), "utf8")).toBe("Be brief.\n");
  expect(await rig.inUse()).toEqual({ "AGENTS.md": "Be brief.\n" });
  expect(await rig.inUse(rig.boot())).toEqual({ "AGENTS.md": "Be brief.\n" });
  const facts = await lstat(rig.at());
  expect([facts.uid, facts.mode & 0o777]).toEqual([process.geteuid?.(), 0o644]);
  expect(begun).toEqual(["Be kind.\n"]);
  expect([rig.refused, await readdir(rig.copies)]).toEqual([[], ["AGENTS.md"]]);
});

test("a change to instructions that have changed meanwhile writes nothing and starts nothing", async () => {
  await using rig = await openProtectedFiles();
  await rig.operatorWrites("Be kind.\n");
  const { change, begun } = allowedChange("Be kind.\n", "Be brief.\n");
  await rig.operatorWrites("Be quiet.\n");

  expect(await rig.files.replace("family", change)).toBe("changed");

  expect(await rig.inUse()).toEqual({ "AGENTS.md": "Be quiet.\n" });
  expect([begun, await readdir(rig.copies)]).toEqual([[], ["AGENTS.md"]]);
});

test("a change that was begun before a crash is finished, once: what the operator has made of it since stays", async () => {
  await using rig = await openProtectedFiles();
  await rig.operatorWrites("Be kind.\n");
  const dies = { begin: () => Promise.reject(new Error("killed")) };
  const { change: killed } = allowedChange("Be kind.\n", "Be brief.\n", dies);
  await expect(rig.files.replace("family", killed)).rejects.toThrow("killed");
  expect(await rig.inUse(rig.boot())).toEqual({ "AGENTS.md": "Be kind.\n" });
  const { change, begun } = allowedChange("Be kind.\n", "Be brief.\n", { isBegun: true });

  expect(await rig.boot().replace("family", change)).toBe("written");
  expect(await rig.inUse()).toEqual({ "AGENTS.md": "Be brief.\n" });
  await rig.operatorWrites("Be kind.\n");
  expect(await rig.boot().replace("family", change)).toBe("written");

  expect(await rig.inUse()).toEqual({ "AGENTS.md": "Be kind.\n" });
  expect(begun).toEqual([]);
});

test.each(["a folder", "a link", "a pipe"])(
  "an agent that holds the place with %s does not keep a change out",
  async (what) => {
    await using rig = await openProtectedFiles();
    await rig.operatorWrites("Be kind.\n");
    const { change } = allowedChange("Be kind.\n", "Be brief.\n", {
      begin: async () => {
        await rm(rig.at());
        if (what === "a folder") await mkdir(join(rig.at(), "full"), { recursive: true });
        else if (what === "a link") await symlink("/etc/passwd", rig.at());
        else await promisify(execFile)("mkfifo", [rig.at()]);
      },
    });

    expect(await rig.files.replace("family", change)).toBe("written");

    expect(await rig.inUse()).toEqual({ "AGENTS.md": "Be brief.\n" });
    expect((await lstat(rig.at())).isFile()).toBe(true);
    expect(await readFile("/etc/passwd", "utf8")).not.toContain("Be brief.");
  },
);
