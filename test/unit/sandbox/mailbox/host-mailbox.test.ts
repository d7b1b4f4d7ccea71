import { mkdir, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { limits } from "../../../../src/protocol/limits.ts";
import { protocolVersion } from "../../../../src/protocol/version.ts";
import { messageFileName } from "../../../../src/protocol/paths.ts";
import type { MailboxUnderTest } from "../../../support/mailbox-under-test.ts";
import { logMessage, openMailbox } from "../../../support/mailbox-under-test.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

function callOf(input: unknown) {
  return { id: "1", name: "shell", input };
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

test("a message of the agent is handed over and its file removed", async () => {
  await using box = await openMailbox();

  await box.put(1, logMessage(1));

  await expect.poll(() => box.messages.map(({ id }) => id)).toEqual([1]);
  await expect.poll(() => readdir(box.toHost)).toEqual([]);
});

test("messages are handled in the order of their ids, one at a time, each after the one before", async () => {
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  await using box = await openMailbox({
    onMessage: async ({ id }) => {
      events.push(`begin ${id}`);
      if (id === 1) await gate.promise;
      events.push(`end ${id}`);
    },
  });

  for (const id of [1, 2, 3]) await box.put(id, logMessage(id));
  await expect.poll(() => events).toEqual(["begin 1"]);
  gate.resolve();

  await expect.poll(() => events).toEqual(["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
});

test("a message whose handling fails is done with, and the next one is handled", async () => {
  const handled: number[] = [];
  await using box = await openMailbox({
    onMessage: ({ id }) => {
      handled.push(id);
      if (id === 1) throw new Error("the disk is full");
    },
  });

  await box.put(1, logMessage(1));
  await box.put(2, logMessage(2));

  await expect.poll(() => handled).toEqual([1, 2]);
  await expect.poll(() => readdir(box.toHost)).toEqual([]);
});

test("an id that was handled before is removed without being handled again", async () => {
  await using box = await openMailbox();
  await box.put(1, logMessage(1));
  await expect.poll(() => box.messages.length).toBe(1);

  await box.put(1, logMessage(1));
  await box.put(2, logMessage(2));

  await expect.poll(() => readdir(box.toHost)).toEqual([]);
  expect(box.messages.map(({ id }) => id)).toEqual([1, 2]);
  expect(box.rejections).toEqual([]);
});

test("what the agent wrote while no host was there is handled when one opens the mailbox", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "mail");
  const before = await openMailbox({ folder: path });
  await before[Symbol.asyncDispose]();
  await writeFile(join(path, "to-host", messageFileName(41)), JSON.stringify(logMessage(41)));
  await writeFile(join(path, "to-host", messageFileName(42)), JSON.stringify(logMessage(42)));

  await using box = await openMailbox({ folder: path });

  await expect.poll(() => box.messages.map(({ id }) => id)).toEqual([41, 42]);
});

test("the agent gets whole files under names that rise, and those it acknowledged are removed", async () => {
  await using box = await openMailbox({ firstId: 10 });

  const ids = await Promise.all(
    ["one", "two", "three"].map((reason) => box.mailbox.send({ type: "cancel", turn: "t", reason })),
  );
  const names = await readdir(box.toAgent);
  const first = JSON.parse(await readFile(join(box.toAgent, messageFileName(10)), "utf8")) as unknown;
  await box.put(1, logMessage(1, { acked: 11 }));

  expect(ids).toEqual([10, 11, 12]);
  expect(names.toSorted()).toEqual([10, 11, 12].map(messageFileName));
  expect(first).toEqual({
    version: protocolVersion,
    id: 10,
    generation: 3,
    acked: 0,
    payload: { type: "cancel", turn: "t", reason: "one" },
  });
  await expect.poll(() => readdir(box.toAgent)).toEqual([messageFileName(12)]);
});

test("the host tells the agent what it has handled", async () => {
  await using box = await openMailbox();
  await box.put(1, logMessage(1));
  await expect.poll(() => box.messages.length).toBe(1);

  await box.mailbox.send({ type: "shutdown" });

  expect(JSON.parse(await readFile(join(box.toAgent, messageFileName(1)), "utf8"))).toMatchObject({ acked: 1 });
});

test("a name is not used twice when a mailbox is opened again", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "mail");
  {
    await using before = await openMailbox({ folder: path, firstId: 5 });
    await before.mailbox.send({ type: "shutdown" });
  }

  await using box = await openMailbox({ folder: path, firstId: 5 });

  expect(await box.mailbox.send({ type: "shutdown" })).toBe(6);
});

test("what the agent would refuse is refused to the sender, and costs no id", async () => {
  await using box = await openMailbox();
  let deep: unknown = "bottom";
  for (let level = 0; level < limits.depth; level += 1) deep = [deep];
  const response = { type: "model-response", turn: "t", request: 1, text: "" } as const;

  await expect(box.mailbox.send({ ...response, toolCalls: [callOf(deep)] })).rejects.toMatchObject({
    code: "bad_input",
  });
  await expect(
    box.mailbox.send({ ...response, toolCalls: [callOf(JSON.parse('{"__proto__":1}'))] }),
  ).rejects.toMatchObject({
    code: "bad_input",
  });
  await expect(
    box.mailbox.send({ ...response, text: "x".repeat(limits.messageBytes), toolCalls: [] }),
  ).rejects.toMatchObject({ code: "too_large" });
  expect(await box.mailbox.send({ type: "shutdown" })).toBe(1);
});

test("only the host gets into a mailbox's folder, and the agent can read what is for it", async () => {
  await using box = await openMailbox();
  await box.mailbox.send({ type: "shutdown" });

  expect(await modeOf(box.folder)).toBe("700");
  expect(await modeOf(box.toAgent)).toBe("755");
  expect(await modeOf(join(box.toAgent, messageFileName(1)))).toBe("644");
  expect(await modeOf(join(box.folder, "rejected"))).toBe("700");
});

test.runIf(process.getuid?.() === 0)("the agent's folder belongs to the uid of its container", async () => {
  await using box = await openMailbox({ containerUid: 34_567 });

  const { uid, mode } = await stat(box.toHost);

  expect([uid, mode & 0o777]).toEqual([34_567, 0o700]);
});

test("after the mailbox is closed nothing is handed over and nothing sent", async () => {
  await using box = await openMailbox();

  await box.mailbox[Symbol.asyncDispose]();
  await box.put(1, logMessage(1));

  await expect(box.mailbox.send({ type: "shutdown" })).rejects.toMatchObject({ code: "container_lost" });
  expect(box.messages).toEqual([]);
});

test("a mailbox may be closed by the handler of a message", async () => {
  const closed = Promise.withResolvers<void>();
  await using box: MailboxUnderTest = await openMailbox({
    onMessage: async () => {
      await box.mailbox[Symbol.asyncDispose]();
      closed.resolve();
    },
  });

  await box.put(1, logMessage(1));

  await closed.promise;
});

test("removing a mailbox takes whatever the agent built in it and nothing that it pointed at", async () => {
  await using elsewhere = await temporaryFolder();
  await writeFile(join(elsewhere.path, "keep"), "precious");
  await using box = await openMailbox();
  await box.mailbox.send({ type: "shutdown" });
  const deep = Array.from({ length: 200 }, () => "d".repeat(15)).join("/");
  await mkdir(join(box.toHost, deep), { recursive: true });
  await writeFile(join(box.toHost, deep, "file"), "");
  await symlink(elsewhere.path, join(box.toHost, deep, "link"));
  await symlink(elsewhere.path, join(box.toHost, "link"));
  await mkdir(join(box.toHost, "many"));
  for (let number = 0; number < 600; number += 1) await writeFile(join(box.toHost, "many", String(number)), "");

  await box.mailbox.removeFiles();

  await expect(stat(box.folder)).rejects.toMatchObject({ code: "ENOENT" });
  expect(await readFile(join(elsewhere.path, "keep"), "utf8")).toBe("precious");
});

test("removing a mailbox that is gone already is no error", async () => {
  await using box = await openMailbox();
  await rm(box.folder, { recursive: true });

  await box.mailbox.removeFiles();

  await expect(stat(box.folder)).rejects.toMatchObject({ code: "ENOENT" });
});
