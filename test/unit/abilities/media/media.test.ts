import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { Media, mediaLimits } from "../../../../src/abilities/media/media.ts";
import type { MediaLimits } from "../../../../src/abilities/media/media.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const main = join(import.meta.dirname, "../../../fixtures/media/obedient-process.ts");
const request = { maxBytes: 1_000_000, maxPixels: 40_000_000, photoEdge: 1568, documentEdge: 2048 };

/** The media process replaced by one that a file has taken over; `tell` gives what came of what it is told. */
async function openRig(limits: Partial<MediaLimits> = {}) {
  const root = await temporaryFolder();
  const failures: string[] = [];
  const folder = join(root.path, "media");
  const media = new Media({
    folder,
    main,
    limits: { ...mediaLimits, ...limits },
    onFailure: (operation, reason) => failures.push(`${operation}: ${reason}`),
  });
  const tell = async (order: string, signal?: AbortSignal): Promise<string> => {
    await using work = await media.open();
    await writeFile(work.input, order);
    return await work.run("picture", request, signal).then(
      () => "a result",
      (error: unknown) => (error as Error).message,
    );
  };
  return {
    media,
    folder,
    root: root.path,
    failures,
    tell,
    left: async () => (await readdir(folder, { recursive: true })).toSorted(),
    [Symbol.asyncDispose]: async () => {
      await media[Symbol.asyncDispose]();
      await root[Symbol.asyncDispose]();
    },
  };
}

test("there is no process before it is needed, one for many files, and none when it was idle", async () => {
  await using rig = await openRig({ idleMs: 3_000 });

  expect(rig.media.pid).toBeUndefined();
  const [first, second] = [await rig.tell("pid"), await rig.tell("pid")];
  expect(first).toBe(`did: ${rig.media.pid}`);
  expect(second).toBe(first);
  await rig.media.ended;
  await expect.poll(() => rig.media.pid).toBeUndefined();
  expect(await rig.tell("pid")).not.toBe(first);
  expect(rig.failures).toEqual([]);
  expect(await rig.left()).toEqual(["in", "out"]);
});

const ends = [
  { order: "exit", why: "code 7" },
  { order: "abort", why: "SIGABRT" },
  { order: "hang", why: "it took longer than 2 seconds", requestMs: 2_000 },
  { order: "wait", why: "it took longer than 2 seconds", requestMs: 2_000 },
  { order: "eat memory", why: /it held \d+ MiB of memory, more than the 200 it may|SIGKILL|SIGABRT|SIGTRAP|code 1/ },
  { order: "eat heap", why: /SIGABRT|SIGTRAP|more than the 200 it may/ },
  { order: "flood", why: "it sent a message of more than 1048576 bytes" },
  { order: "babble", why: "it sent what is no message" },
  { order: "answer another", why: "it answered what was not asked" },
];

test.each(ends)("a file that makes the process $order costs itself only", async ({ order, why, requestMs }) => {
  await using rig = await openRig({ memoryMb: 200, outputBytes: 1_000_000, ...(requestMs && { requestMs }) });
  await rig.tell("echo: here");

  const [spoilt, next] = await Promise.all([rig.tell(order), rig.tell("echo: still here")]);

  expect(spoilt).toMatch(/^the process that reads such files has ended \(/);
  expect(spoilt).toMatch(why);
  expect(next).toBe("did: still here");
  expect(rig.failures).toEqual([`picture: ${spoilt}`]);
  expect(await rig.left()).toEqual(["in", "out"]);
});

test("what it writes is bounded", async () => {
  await using rig = await openRig({ outputBytes: 1_000_000 });

  expect(await rig.tell("large output: 20000000")).toBe("could not: EFBIG: file too large, write");
});

test("nobody waits for a file anymore: the process is ended, and the next file is read", async () => {
  await using rig = await openRig();
  const stop = new AbortController();

  const told = rig.tell("wait", stop.signal);
  await expect.poll(() => rig.media.pid).toBeDefined();
  stop.abort(new Error("never mind"));

  expect(await told).toBe("never mind");
  expect(await rig.tell("echo: next")).toBe("did: next");
  expect(rig.failures).toEqual([]);
});

test("more files than may wait are refused", async () => {
  await using rig = await openRig({ mostWaiting: 2 });

  const all = await Promise.all([rig.tell("echo: 1"), rig.tell("echo: 2"), rig.tell("echo: 3")]);

  expect(all.filter((said) => said.startsWith("did: "))).toHaveLength(2);
  expect(all).toContain("2 other files are waiting to be read; try again later");
});

test("when the host stops, so does a process at work", async () => {
  await using rig = await openRig();
  const told = rig.tell("wait");
  await expect.poll(() => rig.media.pid).toBeDefined();

  await rig.media[Symbol.asyncDispose]();

  expect(await told).toMatch(/has ended/);
  expect(await rig.tell("echo: too late")).toBe("the host is stopping");
  expect(rig.failures).toEqual([]);
});

test("it gets no environment, reads and writes nowhere else, runs nothing and gains no rights", async () => {
  await using rig = await openRig();
  const secret = join(rig.root, "secret");
  await writeFile(secret, "a key");

  const said = async (order: string): Promise<string> => rig.tell(order);

  expect(JSON.parse((await said("environment")).replace("did: ", ""))).not.toHaveProperty("PATH");
  expect(await said(`read: ${secret}`)).toMatch(/^could not: Access to this API has been restricted/);
  expect(await said(`write: ${secret}`)).toMatch(/^could not: Access to this API has been restricted/);
  expect(await said(`write: ${join(rig.folder, "in", "x")}`)).toMatch(/^could not: Access/);
  expect(await said("run: /bin/true")).toMatch(/^could not: Access/);
  expect(await readFile(secret, "utf8")).toBe("a key");
  const status = await readFile(`/proc/${rig.media.pid}/status`, "utf8");
  expect(/^NoNewPrivs:\s+(\d)/m.exec(status)?.[1]).toBe("1");
  expect(/^CapEff:\s+(\S+)/m.exec(status)?.[1]).toBe("0000000000000000");
});

test("where the system lets it, it has no network", async () => {
  await using rig = await openRig();
  await using server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };

  const mayBeAlone = await promisify(execFile)("unshare", ["--user", "--map-current-user", "--net", "true"]).then(
    () => true,
    () => false,
  );
  const said = await rig.tell(`connect: ${port}`);
  expect(said).toMatch(mayBeAlone ? /^could not: connect ENETUNREACH/ : /^did: connected/);
});

test("a link that it leaves in place of what it writes leads nowhere", async () => {
  await using rig = await openRig();
  await using work = await rig.media.open();
  await symlink("/etc/passwd", join(rig.folder, "out", work.input.split("/").at(-1) ?? ""));

  expect(await work.takeOutput(join(rig.root, "copy"), 1_000_000)).toEqual({ ok: false, reason: "link" });
});
