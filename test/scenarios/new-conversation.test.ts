import { glob, readFile } from "node:fs/promises";

import { expect, test } from "vitest";

import { TestHost } from "../support/host.ts";

/** Three ways to leave a process behind that no longer hears of its shell; each says its name in its command line. */
const mark = `crabpot-left-${process.pid}`;
const leaveBehind = [
  `nohup bash -c 'exec -a ${mark}-nohup sleep 3600' >/dev/null 2>&1 &`,
  `setsid bash -c 'exec -a ${mark}-setsid sleep 3600' >/dev/null 2>&1 &`,
  `python3 -c 'import os, sys`,
  `if os.fork(): sys.exit()`,
  `os.setsid()`,
  `if os.fork(): sys.exit()`,
  `for fd in (0, 1, 2): os.close(fd)`,
  `os.execvp("sleep", ["${mark}-daemon", "3600"])'; true`,
].join("\n");

/** Processes of the machine, which include those in containers. */
async function leftBehind(): Promise<string[]> {
  const lines = await Array.fromAsync(glob("/proc/[0-9]*/cmdline"), (file) => readFile(file, "utf8").catch(() => ""));
  return lines
    .map((line) => line.split("\0")[0] ?? "")
    .filter((name) => name.startsWith(mark))
    .toSorted();
}

const all = ["daemon", "nohup", "setsid"].map((name) => `${mark}-${name}`);

test("/new ends what the agent has left running, however it was detached; files are kept", async () => {
  await using host = await TestHost.start({ process: "shared" });
  await host.ask("family", `@crab run echo kept > /workspace/group/file; ${leaveBehind}`);
  await expect.poll(leftBehind).toEqual(all);

  const answer = await host.ask("family", "/new");
  const left = await leftBehind();
  const containers = await host.containers();
  const reply = await host.ask("family", "@crab run cat /workspace/group/file; ps -e | wc -l");

  expect(answer.text).toContain("running background work was ended");
  expect(left).toEqual([]);
  expect(containers).toEqual([]);
  expect(reply.text).toContain("kept");
});

test("a host that is killed behind the effect of /new does not go on with the old conversation's container", async () => {
  await using host = await TestHost.prepare();
  host.launch({ CRABPOT_CRASH_AT: "after:commands.carryOut" });
  expect(await host.isReadyWithin(120_000)).toBe(true);
  await host.ask("family", `@crab run ${leaveBehind}`);
  await expect.poll(leftBehind).toEqual(all);

  await host.say("family", "/new", { id: "new" }).catch(() => undefined);
  await expect.poll(() => host.isRunning).toBe(false);
  const before = await leftBehind();
  await host.boot();
  const answer = await host.replyTo("new");
  await expect.poll(leftBehind).toEqual([]);

  expect(before).toEqual(all);
  expect(answer.kind).toBe("notice");
});
