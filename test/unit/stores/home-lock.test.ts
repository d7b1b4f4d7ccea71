import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { lockHome } from "../../../src/stores/catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const owner = { pid: process.pid, startedAt: 1_700_000_000_000 };

/** A process that holds the lock of `folder` until it is killed. */
async function startHolder(folder: string) {
  const program = join(import.meta.dirname, "../../fixtures/stores/lock-holder.ts");
  const child = spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { child, line: String(line).trim(), end, [Symbol.asyncDispose]: end };
}

test("a second host in the same home is refused at once and told who the first one is", async () => {
  await using folder = await temporaryFolder();
  await using locks = new AsyncDisposableStack();
  locks.use(await lockHome(folder.path, owner));

  await using second = await startHolder(folder.path);

  const { line } = second;
  expect(line).toContain("host_running");
  expect(line).toContain(`pid ${process.pid}, since 2023-11-14T22:13:20.000Z`);
  expect(line).toContain(folder.path);
  await expect(lockHome(folder.path, owner)).rejects.toMatchObject({ code: "host_running" });
});

test("a host that was killed leaves no lock behind", async () => {
  await using folder = await temporaryFolder();
  await using holder = await startHolder(folder.path);
  expect(holder.line).toBe("locked");
  await expect(lockHome(folder.path, owner)).rejects.toThrow(`pid ${holder.child.pid}`);

  await holder.end();

  const lock = await lockHome(folder.path, owner);
  await lock[Symbol.asyncDispose]();
});

test("two homes are locked side by side, and a released one can be locked again", async () => {
  await using folder = await temporaryFolder();
  const home = join(folder.path, "home");
  await using locks = new AsyncDisposableStack();
  locks.use(await lockHome(join(folder.path, "other"), owner));
  const first = await lockHome(home, owner);

  await first[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  locks.use(await lockHome(home, owner));

  expect((await readdir(home)).toSorted()).toEqual(["host.json", "lock.sqlite"]);
  for (const file of await readdir(home)) expect((await stat(join(home, file))).mode & 0o777).toBe(0o600);
});
