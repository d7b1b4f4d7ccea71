import { createHash } from "node:crypto";
import { link, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import pino from "pino";
import { expect, test } from "vitest";

import type { IncomingAttachment } from "../../../src/domain/chats/message.ts";
import { AttachmentFetcher, type AttachmentFetcherOptions } from "../../../src/intake/attachment-fetcher.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Rig extends AsyncDisposable {
  readonly inbox: AttachmentFetcher;
  readonly group: string;
  readonly incoming: string;
  readonly outside: string;
}

const png = Buffer.from("\x89PNG\r\n\x1a\n and the rest of a picture", "latin1");

async function openRig(more: Partial<AttachmentFetcherOptions> = {}): Promise<Rig> {
  const folder = await temporaryFolder();
  const [groups, incoming, outside] = ["groups", "incoming", "outside"].map((name) => join(folder.path, name));
  if (groups === undefined || incoming === undefined || outside === undefined) throw new Error("no folders");
  const group = join(groups, "family");
  for (const path of [groups, group, incoming, outside]) await mkdir(path);
  await writeFile(join(incoming, "left-over"), "half a file");
  const inbox = await AttachmentFetcher.open({
    groupsFolder: groups,
    temporaryFolder: incoming,
    maxBytes: 1_000,
    roomFor: async () => 1_000_000,
    hostUid: process.geteuid?.() ?? 0,
    clock: { now: () => Date.parse("2026-01-15T12:30:05Z") },
    logger: pino({ level: "silent" }),
    ...more,
  });
  return { inbox, group, incoming, outside, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

function file(content: string | Buffer, more: Partial<IncomingAttachment> = {}): IncomingAttachment {
  return { kind: "image", mimeType: "image/png", fetch: (path) => writeFile(path, content), ...more };
}

test("a file of a member lies in the group's inbox under a name of ours, of the type that its content has", async () => {
  await using rig = await openRig();

  const fetched = await rig.inbox.fetchAll("family", [
    file(png, { name: "../../evil.exe", mimeType: "application/x-executable" }),
    file("a,b\n1,2\n", { kind: "document", name: "table.CSV" }),
    file(Buffer.from([1, 2, 3, 0]), { kind: "document" }),
  ]);

  expect(fetched).toEqual([
    {
      kind: "image",
      name: "../../evil.exe",
      file: {
        path: "/workspace/group/inbox/20260115T123005-1.png",
        mimeType: "image/png",
        bytes: png.length,
        sha256: createHash("sha256").update(png).digest("hex"),
      },
    },
    {
      kind: "document",
      name: "table.CSV",
      file: { path: "/workspace/group/inbox/20260115T123005-2.csv", mimeType: "text/csv", bytes: 8 },
    },
    {
      kind: "document",
      file: {
        path: "/workspace/group/inbox/20260115T123005-3.bin",
        mimeType: "application/octet-stream",
        bytes: 4,
      },
    },
  ]);
  expect(await readFile(join(rig.group, "inbox/20260115T123005-1.png"))).toEqual(png);
  const mode = process.geteuid?.() === 0 ? 0o644 : 0o666;
  expect((await stat(join(rig.group, "inbox/20260115T123005-1.png"))).mode & 0o777).toBe(mode);
  expect(await readdir(rig.incoming)).toEqual([]);
});

test("sounds and pictures are known by their first bytes, whatever kind of file they are kept in", async () => {
  await using rig = await openRig();
  const heads: Readonly<Record<string, string>> = {
    "audio/mpeg": "\xff\xf3\x80\xc4",
    "audio/aac": "\xff\xf9\x50\x80",
    "audio/aiff": "FORM\0\0\0\x2eAIFFCOMM",
    "audio/x-caf": "caff\0\x01\0\0desc",
    "image/heic": "\0\0\0\x18ftypmsf1\0\0\0\0mif1hevc",
    "image/avif": "\0\0\0\x18ftypmif1\0\0\0\0miafavif",
    "video/mp4": "\0\0\0\x18ftypisom\0\0\0\0mp41avc1",
  };

  const fetched = await rig.inbox.fetchAll(
    "family",
    Object.values(heads).map((head) => file(Buffer.from(head, "latin1"))),
  );

  expect(fetched.map((one) => one.file?.mimeType)).toEqual(Object.keys(heads));
});

test("the names of files tell a group nothing of how many files others get", async () => {
  await using rig = await openRig();
  await mkdir(join(rig.group, "../others"));
  await rig.inbox.fetchAll("others", [file(png), file(png)]);

  const [fetched] = await rig.inbox.fetchAll("family", [file(png)]);

  expect(fetched?.file?.path).toBe("/workspace/group/inbox/20260115T123005-1.png");
});

test("what the host was fetching when it died is gone at the next start", async () => {
  await using rig = await openRig();

  expect(await readdir(rig.incoming)).toEqual([]);
});

test("a file that is too large, has no room, is one too many or cannot be had says so and leaves nothing", async () => {
  await using rig = await openRig({ roomFor: async () => 500 });
  const failing = file("", { fetch: () => Promise.reject(new Error("the platform has deleted it")) });
  const many = Array.from({ length: 17 }, () => file("x"));

  const [lying, announced, tight, gone] = await rig.inbox.fetchAll("family", [
    file("x".repeat(501)),
    file("x", { bytes: 1_001 }),
    file("x", { bytes: 600 }),
    failing,
  ]);
  const crowd = await rig.inbox.fetchAll("family", many);

  expect(lying?.failure).toBe("it is larger than 500 bytes");
  expect(announced?.failure).toBe("it is larger than 1 kB");
  expect(tight?.failure).toContain("has no room for it (500 bytes left)");
  expect(gone?.failure).toBe("the platform has deleted it");
  expect(crowd).toHaveLength(17);
  expect(crowd[16]?.failure).toContain("1 more files");
  expect(await readdir(join(rig.group, "inbox"))).toHaveLength(16);
  expect(await readdir(rig.incoming)).toEqual([]);
});

test("a platform that never answers costs a message its files and no more time than there is", async () => {
  await using rig = await openRig({ fetchMs: 20 });
  const hung = file("", { fetch: () => new Promise(() => undefined) });

  const fetched = await rig.inbox.fetchAll("family", [hung, file("x")]);

  expect(fetched.map(({ failure }) => failure)).toEqual(["it took too long", "it took too long"]);
});

test("a host that stops waits for no file, and takes the message later; so it does while its disk is full", async () => {
  await using rig = await openRig();
  const full = Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write" });
  const odd = Object.assign(new Error("EIO: /home/x/incoming"), { code: "EIO", syscall: "write" });
  const fails = (reason: Error) => file("", { fetch: async () => Promise.reject(reason) });

  const [broken] = await rig.inbox.fetchAll("family", [fails(odd)]);
  const [elsewhere] = await rig.inbox.fetchAll("nobody", [file("x")]);
  const hung = file("", { fetch: () => new Promise(() => undefined) });
  const [withoutRoom] = await Promise.allSettled([rig.inbox.fetchAll("family", [fails(full)])]);
  const waiting = Promise.allSettled([rig.inbox.fetchAll("family", [hung])]);
  rig.inbox[Symbol.dispose]();
  const [stopped] = await waiting;

  expect(withoutRoom).toMatchObject({ status: "rejected", reason: full });
  expect(stopped).toMatchObject({ status: "rejected", reason: { code: "intake_stopped", passing: true } });
  expect(broken?.failure).toBe("the host could not store it");
  expect(elsewhere?.failure).toBe("the group's folder cannot be opened");
  expect(await readdir(rig.incoming)).toEqual([]);
});

test("an inbox that is a link, a file or a pipe of the agent's is moved aside, and nothing is written through it", async () => {
  await using rig = await openRig();
  const inbox = join(rig.group, "inbox");

  await symlink(rig.outside, inbox);
  const [first] = await rig.inbox.fetchAll("family", [file("one")]);
  await rm(inbox, { recursive: true });
  await writeFile(inbox, "in the way");
  const [second] = await rig.inbox.fetchAll("family", [file("two")]);

  expect([first?.failure, second?.failure]).toEqual([undefined, undefined]);
  expect(await readdir(rig.outside)).toEqual([]);
  expect((await lstat(inbox)).isDirectory()).toBe(true);
  expect((await readdir(rig.group)).filter((name) => name.startsWith("inbox.moved-"))).toHaveLength(2);
});

test("names that the agent has taken before, by links or files, are neither followed nor replaced", async () => {
  await using rig = await openRig();
  const inbox = join(rig.group, "inbox");
  await mkdir(inbox);
  await writeFile(join(rig.outside, "secret"), "untouched");
  await symlink(join(rig.outside, "secret"), join(inbox, "20260115T123005-1.txt"));
  await link(join(rig.outside, "secret"), join(inbox, "20260115T123005-2.txt"));
  await mkdir(join(inbox, "20260115T123005-3.txt"));

  const [fetched] = await rig.inbox.fetchAll("family", [file("mine")]);

  expect(fetched?.file?.path).toBe("/workspace/group/inbox/20260115T123005-4.txt");
  expect(await readFile(join(rig.outside, "secret"), "utf8")).toBe("untouched");
});

test("an agent that swaps its inbox for a link all the time never gets a file out of its folder", async () => {
  await using rig = await openRig();
  const inbox = join(rig.group, "inbox");
  const over = new AbortController();
  const swap = (async () => {
    for (let round = 0; !over.signal.aborted; round += 1) {
      await rename(inbox, join(rig.group, `old-${round}`)).catch(() => undefined);
      await symlink(rig.outside, inbox).catch(() => undefined);
      await rm(inbox, { recursive: true, force: true }).catch(() => undefined);
      await mkdir(inbox).catch(() => undefined);
    }
  })();

  for (let round = 0; round < 100; round += 1) await rig.inbox.fetchAll("family", [file("x")]);
  over.abort();
  await swap;

  expect(await readdir(rig.outside)).toEqual([]);
  expect((await stat(rig.outside)).mode & 0o777).toBe(0o755);
});

test("files have at most what members may still send today, whatever they say of themselves", async () => {
  await using rig = await openRig();
  const hundred = "x".repeat(100);

  const fetched = await rig.inbox.fetchAll(
    "family",
    [file(hundred), file(hundred, { bytes: 200 }), file(hundred), file("x")],
    150,
  );

  expect(fetched.map(({ file: kept }) => kept?.bytes)).toEqual([100, undefined, undefined, 1]);
  expect(fetched.map(({ failure }) => failure)).toEqual([
    undefined,
    "members have reached today's limit for files",
    "it is larger than 50 bytes",
    undefined,
  ]);
});

test("a file of which each of several agents gets a copy has to have room as often", async () => {
  await using rig = await openRig({ roomFor: async () => 500, otherFolders: async () => ["family@scout"] });
  await mkdir(`${rig.group}@scout`);

  const [fits, tight] = await rig.inbox.fetchAll("family", [file("x".repeat(250)), file("x".repeat(251))]);

  expect(fits?.failure).toBeUndefined();
  expect(tight?.failure).toBe("it is larger than 250 bytes");
});
