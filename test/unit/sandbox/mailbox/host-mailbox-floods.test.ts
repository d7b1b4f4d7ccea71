import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { limits } from "../../../../src/protocol/limits.ts";
import { messageFileName } from "../../../../src/protocol/paths.ts";
import { logMessage, openMailbox } from "../../../support/mailbox-under-test.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** Milliseconds of this process, whatever else keeps the machine busy. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Runs this as Python in a folder. */
async function python(folder: string, script: string): Promise<void> {
  await promisify(execFile)("python3", ["-c", `import os,sys\nos.chdir(sys.argv[1])\n${script}`, folder]);
}

/** Thousands of files: a program removes them in a tenth of the time that Node takes. */
async function removeFiles(folder: string): Promise<void> {
  await promisify(execFile)("rm", ["-r", folder]);
}

test("a mailbox with 80,000 files ends the container, and costs the host next to nothing", async () => {
  // In memory, because it is the host and not the disk that is tried.
  await using memory = await temporaryFolder("/dev/shm");
  const toHost = join(memory.path, "mail", "to-host");
  await mkdir(toHost, { recursive: true });
  await python(toHost, "for i in range(80000): os.mknod(f'{i:012}.json')");
  const before = process.cpuUsage();

  await using box = await openMailbox({ folder: join(memory.path, "mail") });
  await expect.poll(() => box.violations).toEqual([`more than ${limits.files} files in its mailbox`]);

  const { user, system } = process.cpuUsage(before);
  const ofListing = await cpuOf(() => readdir(toHost));
  // To read no more than their names takes longer.
  expect((user + system) / 1_000).toBeLessThan(ofListing);
  expect(box.messages).toEqual([]);
  await removeFiles(toHost);
});

test("once a container is to be ended, what it still does to its mailbox is not even looked at", async () => {
  await using memory = await temporaryFolder("/dev/shm");
  await using box = await openMailbox({ folder: join(memory.path, "mail") });
  for (let id = 1; id <= limits.violations; id += 1) await box.put(id, "nonsense");
  await expect.poll(() => box.violations).toHaveLength(1);
  const before = process.cpuUsage();

  await python(box.toHost, "for i in range(20000): os.mknod(f'f{i}')");

  const { user, system } = process.cpuUsage(before);
  const names = await readdir(box.toHost);
  const ofLooking = await cpuOf(async () => {
    for (const name of names.slice(0, 4_000)) await stat(join(box.toHost, name));
  });
  // To look at a fifth of them takes longer.
  expect(names.length).toBeGreaterThanOrEqual(20_000);
  expect((user + system) / 1_000).toBeLessThan(ofLooking);
  await removeFiles(box.toHost);
});

test("a folder that is full before the host looks ends the container", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "mail");
  await mkdir(join(path, "to-host"), { recursive: true });
  for (let id = 1; id <= limits.files + 1; id += 1) {
    await writeFile(join(path, "to-host", messageFileName(id)), JSON.stringify(logMessage(id)));
  }

  await using box = await openMailbox({ folder: path });

  await expect.poll(() => box.violations).toEqual([`more than ${limits.files} files in its mailbox`]);
  expect(box.messages).toEqual([]);
});

test("messages that lie there all at once do not keep the host from everything else until the last one is read", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "mail");
  await mkdir(join(path, "to-host"), { recursive: true });
  for (let id = 1; id <= limits.files; id += 1) {
    await writeFile(join(path, "to-host", messageFileName(id)), JSON.stringify(logMessage(id)));
  }
  /** In which round of the event loop each message arrived. */
  const rounds: number[] = [];
  let round = 0;
  const next = (): void => {
    round += 1;
    if (rounds.length < limits.files) setImmediate(next);
  };
  next();

  await using box = await openMailbox({ folder: path, onMessage: () => void rounds.push(round) });
  await expect.poll(() => rounds).toHaveLength(limits.files);

  expect(box.violations).toEqual([]);
  expect(new Set(rounds).size).toBeGreaterThan(10);
});

test("an agent that makes file events without end is charged for it, and its messages still arrive", async () => {
  await using box = await openMailbox();
  const names = [8, 9].map((id) => `.${messageFileName(id)}.part`);
  const script =
    "import os,sys\nos.chdir(sys.argv[1])\na,b=sys.argv[2:]\nopen(a,'w').close()\nwhile True: os.rename(a,b); os.rename(b,a)";
  const flood = spawn("python3", ["-c", script, box.toHost, ...names], { stdio: "ignore" });

  try {
    await expect.poll(() => box.rejections).toContain("a flood of file events");
    await box.put(1, logMessage(1));
    await expect.poll(() => box.messages).toHaveLength(1);
  } finally {
    flood.kill("SIGKILL");
    await once(flood, "exit");
  }
});
