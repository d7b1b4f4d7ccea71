import { rm } from "node:fs/promises";
import { join } from "node:path";

import SQLite from "better-sqlite3";
import { expect, test } from "vitest";

import type { TestHost } from "../support/host.ts";
import { startModelHost, startWithoutContainers } from "../support/model-host.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { smallDisk } from "../support/small-disk.ts";
import { readStatus } from "../../src/operations/host/operations.ts";

const megabyte = 1024 * 1024;
const hosts = shareModelHost({ process: "own", groups: { held: {}, stopping: {} }, withoutContainers: "all" });

async function readiness(host: TestHost): Promise<{ ready: boolean; reasons: string[] }> {
  return (await (await host.get("/health/ready")).json()) as { ready: boolean; reasons: string[] };
}

async function intakeOf(host: TestHost): Promise<object> {
  return (await host.control.call(readStatus, {})).intake;
}

/** Ids in the order in which they were answered, as often as they were. */
async function answered(host: Pick<TestHost, "replies">): Promise<string[]> {
  return (await host.replies()).flatMap((reply) => reply.inReplyTo);
}

test("a disk that is nearly full stops the intake, what was taken is answered, and it opens when there is room again", async () => {
  await using disk = await smallDisk(48);
  await using running = await startWithoutContainers(() => ({ text: "ok" }), {
    parent: disk.path,
    config: { intake: { reserveMb: 12 } },
  });
  const { host } = running;
  await host.ask("family", "@crab one", { id: "one" });

  await host.say("family", "@crab two", { id: "two" });
  await disk.fill(6 * megabyte);
  await expect.poll(async () => (await host.say("family", "@crab three", { id: "three" })).status).toBe(503);
  const refused = await host.say("family", "@crab three", { id: "three" });
  const during = { ready: await readiness(host), intake: await intakeOf(host) };
  const metrics = await (await host.get("/metrics")).text();
  await host.replyTo("two");
  await disk.free();
  await expect.poll(async () => (await host.say("family", "@crab three", { id: "three" })).status).toBe(202);
  await host.replyTo("three");

  expect(refused).toMatchObject({ retryAfter: "5", body: { error: { code: "intake_stopped", reason: "disk-full" } } });
  expect(during.ready).toMatchObject({ ready: false, reasons: [expect.stringContaining("nearly full")] });
  expect(during.intake).toMatchObject({ open: false, code: "disk-full" });
  expect(metrics).toContain("crabpot_intake_open 0");
  expect(metrics).toMatch(/crabpot_messages_refused_total\{channel="http",reason="disk-full"\} [1-9]/);
  expect(await readiness(host)).toEqual({ ready: true, reasons: [] });
  expect(await answered(host)).toEqual([...new Set(await answered(host))]);
});

test("a turn whose steps find no room on the disk waits, and goes on where it was when there is room", async () => {
  const answer = Promise.withResolvers<void>();
  await using disk = await smallDisk(48);
  await using running = await startModelHost(
    async (request) => {
      if (request.toolOutputs.length > 0) return { text: `ran: ${request.toolOutputs.join(" ")}` };
      await answer.promise;
      const command = `echo once >> /workspace/group/runs; echo done # ${"x".repeat(40_000)}`;
      return { toolCalls: [{ name: "shell", input: { command } }] };
    },
    { parent: disk.path, config: { intake: { reserveMb: 4 }, log: { level: "debug" } } },
  );
  const { host, model } = running;

  await host.say("family", "@crab go", { id: "one" });
  await expect.poll(() => model.requests.length).toBe(1);
  await disk.fill(0);
  answer.resolve();
  await expect.poll(() => host.output.join("")).toContain("retrying");
  const refused = await host.say("family", "@crab and this", { id: "two" });
  await disk.free();
  const reply = await host.replyTo("one");
  const runs = await host.readGroupFile("family", "runs");
  await expect.poll(async () => (await host.say("family", "@crab and this", { id: "two" })).status).toBe(202);
  await host.replyTo("two");

  expect(refused.status).toBe(503);
  expect(reply).toMatchObject({ kind: "reply", text: expect.stringContaining("ran: ") as string });
  expect(runs).toBe("once\n");
  expect(await answered(host)).toEqual(["one", "two"]);
  expect((await host.cli("turns", "list", "--json", "--state", "failed")).stdout).toBe("");
});

test("an agent that fills the disk itself costs no turn: it goes on when somebody has made room", async () => {
  await using disk = await smallDisk(48);
  await using running = await startModelHost(
    (request) => {
      if (request.toolOutputs.length > 0) return { text: `told: ${request.toolOutputs.join(" ")}` };
      return { toolCalls: [{ name: "shell", input: { command: "cat /dev/zero > /workspace/group/big" } }] };
    },
    { parent: disk.path, config: { intake: { reserveMb: 4 } } },
  );
  const { host } = running;

  await host.say("family", "@crab go", { id: "one" });
  await expect.poll(async () => (await readiness(host)).ready).toBe(false);
  await rm(join(host.home, "groups/family/big"));
  const reply = await host.replyTo("one");

  expect(reply).toMatchObject({ kind: "reply", text: expect.stringContaining("told: ") as string });
  expect(await answered(host)).toEqual(["one"]);
});

test("while another program holds the store nothing is taken, a running turn waits, and then both go on by themselves", async () => {
  const answer = Promise.withResolvers<void>();
  const group = hosts.group("held", async (request) => {
    if (request.lastText.includes("slow")) await answer.promise;
    return { text: "ok" };
  });
  const { host } = group;
  await group.say("@crab slow", { id: "one" });
  await expect.poll(() => group.requests.length).toBe(1);
  using holder = holdStore(host);

  const refused = await group.say("@crab two", { id: "two" });
  answer.resolve();
  const during = await readiness(host);
  holder.letGo();
  await group.replyTo("one");
  await expect.poll(async () => (await group.say("@crab two", { id: "two" })).status).toBe(202);
  await group.replyTo("two");

  expect(refused).toMatchObject({ status: 503, body: { error: { reason: "store-failed" } } });
  expect(during).toMatchObject({ ready: false, reasons: ["the store cannot be written"] });
  expect(await answered(group)).toEqual(["one", "two"]);
  expect((await host.cli("audit", "verify")).code).toBe(0);
});

test("a host that is told to stop while its store cannot be written ends, and answers at the next start", async () => {
  const answer = Promise.withResolvers<void>();
  const group = hosts.group("stopping", async () => {
    await answer.promise;
    return { text: "late" };
  });
  const { host } = group;
  await group.say("@crab go", { id: "one" });
  await expect.poll(() => group.requests.length).toBe(1);
  using holder = holdStore(host);

  answer.resolve();
  const code = await host.end("SIGTERM");
  holder.letGo();
  await host.boot();
  const reply = await group.replyTo("one");

  expect(code).toBe(0);
  expect(reply.text).toBe("late");
  expect(await answered(group)).toEqual(["one"]);
});

/** Another process that writes to the host's store and takes its time. */
function holdStore(host: TestHost): { letGo(): void } & Disposable {
  const other = new SQLite(join(host.home, "crabpot.sqlite"));
  other.exec("begin exclusive");
  return { letGo: () => other.exec("rollback"), [Symbol.dispose]: () => other.close() };
}
