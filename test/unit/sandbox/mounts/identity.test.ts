import { appendFile, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { recheckMount } from "../../../../src/sandbox/mounts/identity.ts";
import { judgeMounts, type MountContext, type MountGrant } from "../../../../src/sandbox/mounts/rules.ts";
import { pretendMachine } from "../../../support/pretend-machine.ts";

async function granted(context: MountContext): Promise<MountGrant> {
  const [verdict] = await judgeMounts([{ source: "~/projects/app", target: "app", access: "rw" }], context);
  if (verdict === undefined || verdict.verdict === "denied") throw new Error(`not granted: ${verdict?.reason}`);
  return verdict;
}

describe("between the judgement and the start of the container", () => {
  test("an untouched folder passes, also when its content changes", async () => {
    await using machine = await pretendMachine();
    const grant = await granted(machine.context);

    await appendFile(join(grant.realPath, "new.txt"), "x");

    expect(await recheckMount(grant)).toBeUndefined();
  });

  test("a folder exchanged for another one is noticed", async () => {
    await using machine = await pretendMachine();
    const grant = await granted(machine.context);

    await rename(grant.realPath, `${grant.realPath}-old`);
    await mkdir(grant.realPath);

    expect(await recheckMount(grant)).toMatch(/replaced by another folder/);
  });

  test("a folder exchanged for a link, even one to itself, is noticed", async () => {
    await using machine = await pretendMachine();
    const grant = await granted(machine.context);

    await rename(grant.realPath, `${grant.realPath}-old`);
    await symlink(`${grant.realPath}-old`, grant.realPath);

    expect(await recheckMount(grant)).toMatch(/now leads to/);
  });

  test("a parent exchanged for a link is noticed", async () => {
    await using machine = await pretendMachine();
    const grant = await granted(machine.context);
    const parent = join(grant.realPath, "..");

    await rename(parent, `${parent}-moved`);
    await symlink(`${parent}-moved`, parent);

    expect(await recheckMount(grant)).toMatch(/now leads to/);
  });

  test("a folder that is gone or became a file is noticed", async () => {
    await using machine = await pretendMachine();
    const grant = await granted(machine.context);

    await rm(grant.realPath, { recursive: true });
    const gone = await recheckMount(grant);
    await writeFile(grant.realPath, "");
    const file = await recheckMount(grant);

    expect(gone).toMatch(/does not exist/);
    expect(file).toMatch(/is a file/);
  });
});
