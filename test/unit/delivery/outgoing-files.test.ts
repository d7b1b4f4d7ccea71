import { execFileSync } from "node:child_process";
import { link, mkdir, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";

import pino from "pino";
import { expect, test } from "vitest";

import type { OutboxState, OutgoingFile } from "../../../src/domain/chats/message.ts";
import { OutgoingFiles, type OutgoingFilesOptions } from "../../../src/delivery/outgoing-files.ts";
import type { Store } from "../../../src/stores/contract/store.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

interface Rig extends AsyncDisposable {
  readonly files: OutgoingFiles;
  readonly store: Store;
  readonly group: string;
  readonly folder: string;
  readonly outside: string;
  /** Time stands still but for this. */
  pass(hours: number): void;
}

const hour = 3_600_000;

async function openRig(more: Partial<OutgoingFilesOptions> = {}): Promise<Rig> {
  const place = await temporaryFolder();
  const opened = await openTestStore();
  const path = (name: string) => join(place.path, name);
  const [group, folder, outside] = [path("groups/family"), path("outgoing"), path("outside")];
  for (const made of [group, folder, outside]) await mkdir(made, { recursive: true });
  await writeFile(join(folder, "cut.new"), "half");
  let now = Date.now();
  const files = await OutgoingFiles.open({
    groupsFolder: path("groups"),
    folder,
    store: opened.store.outbox,
    isFetchedLater: (channel) => channel === "http",
    freeBytes: async () => 1e12,
    clock: { now: () => now },
    logger: pino({ level: "silent" }),
    ...more,
  });
  return {
    files,
    store: opened.store,
    group,
    folder,
    outside,
    pass: (hours) => (now += hours * hour),
    async [Symbol.asyncDispose]() {
      await files[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

async function addRow(store: Store, file: OutgoingFile, channel: string, state: OutboxState): Promise<void> {
  const draft = {
    group: "family",
    channel,
    chat: "c",
    kind: "reply",
    text: "",
    inReplyTo: [],
    turn: undefined,
  } as const;
  const { seq } = await store.outbox.add({ ...draft, file }, Date.now());
  await store.outbox.setState(seq, state, 1);
}

test("a sent file is a copy of the host's own, of the moment, that nobody else can read", async () => {
  await using rig = await openRig();
  await mkdir(join(rig.group, "out"));
  await writeFile(join(rig.group, "out/report.md"), "# first");

  const kept = await rig.files.keep("family", "/workspace/group/out/../out/report.md");
  await writeFile(join(rig.group, "out/report.md"), "# changed");

  expect(kept).toMatchObject({ name: "report.md", mimeType: "text/markdown", bytes: 7 });
  expect(await readFile(kept.path, "utf8")).toBe("# first");
  expect((await stat(kept.path)).mode & 0o777).toBe(0o600);
  expect(await readdir(rig.folder)).toHaveLength(1);
});

test("nothing but a regular file below the group's folder can be sent, and a pipe holds nobody up", async () => {
  await using rig = await openRig();
  await writeFile(join(rig.outside, "secret"), "secret");
  await symlink(join(rig.outside, "secret"), join(rig.group, "link"));
  await symlink(rig.outside, join(rig.group, "folder-link"));
  await link(join(rig.outside, "secret"), join(rig.group, "hard"));
  await mkdir(join(rig.group, "folder"));
  execFileSync("mkfifo", [join(rig.group, "pipe")]);
  await writeFile(join(rig.group, "large"), "");
  await truncate(join(rig.group, "large"), 65_000_000);

  const paths = [
    "link",
    "folder-link/secret",
    "hard",
    "folder",
    "pipe",
    "large",
    "missing",
    "..",
    "../x",
    "",
    "a/../..",
  ];
  const elsewhere = ["/etc/passwd", "/workspace/groupx/f", "relative", `/workspace/group/${"d/".repeat(100)}f`];
  const all = [...paths.map((path) => `/workspace/group/${path}`), ...elsewhere];
  const outcomes = await Promise.all(all.map((path) => rig.files.keep("family", path).catch((error: Error) => error)));

  for (const outcome of outcomes) expect(outcome).toMatchObject({ code: "bad_input" });
  expect(outcomes[0]).toMatchObject({ message: "/workspace/group/link was not sent: it is a link." });
  expect(await readdir(rig.folder)).toEqual([]);
});

test("an agent that swaps a folder for a link all the time never gets a file from elsewhere sent", async () => {
  await using rig = await openRig();
  await writeFile(join(rig.outside, "file"), "of the host");
  await mkdir(join(rig.group, "mine"));
  await writeFile(join(rig.group, "mine/file"), "of the group");
  const over = new AbortController();
  const swap = (async () => {
    for (; !over.signal.aborted;) {
      await rename(join(rig.group, "mine"), join(rig.group, "aside")).catch(() => undefined);
      await symlink(rig.outside, join(rig.group, "mine")).catch(() => undefined);
      await rm(join(rig.group, "mine"), { force: true }).catch(() => undefined);
      await rename(join(rig.group, "aside"), join(rig.group, "mine")).catch(() => undefined);
    }
  })();

  const sent: string[] = [];
  for (let round = 0; round < 200; round += 1) {
    const kept = await rig.files.keep("family", "/workspace/group/mine/file").catch(() => undefined);
    if (kept) sent.push(await readFile(kept.path, "utf8"));
  }
  over.abort();
  await swap;

  expect(sent.filter((text) => text !== "of the group")).toEqual([]);
  expect(sent.length).toBeGreaterThan(0);
});

test("names are safe to show and to save", async () => {
  await using rig = await openRig();
  const names = ["a\u202egpj.exe\n", "x".repeat(200) + ".pdf", "...", '<b>|"*?'];
  for (const name of names) await writeFile(join(rig.group, name), "x");

  const kept = await Promise.all(names.map((name) => rig.files.keep("family", `/workspace/group/${name}`)));

  expect(kept.map(({ name }) => name)).toEqual([
    "a_gpj.exe_",
    expect.stringMatching(/^x{80}….*x\.pdf$/),
    "file",
    "_b_____",
  ]);
});

test("copies are removed when no message needs them anymore", async () => {
  await using rig = await openRig();
  const kept: Record<string, OutgoingFile> = {};
  for (const name of ["queued", "sent", "fetched", "dead", "orphan"]) {
    await writeFile(join(rig.group, name), name);
    kept[name] = await rig.files.keep("family", `/workspace/group/${name}`);
  }
  const { queued, sent, fetched, dead } = kept;
  if (!queued || !sent || !fetched || !dead) throw new Error("not kept");
  await addRow(rig.store, queued, "whatsapp", "queued");
  await addRow(rig.store, sent, "whatsapp", "accepted");
  await addRow(rig.store, fetched, "http", "accepted");
  await addRow(rig.store, dead, "whatsapp", "dead");
  const left = async (): Promise<string[]> => {
    await rig.files.sweep();
    const found = await readdir(rig.folder);
    return Object.keys(kept).filter((name) => found.includes(kept[name]?.path.split("/").at(-1) ?? ""));
  };

  const atOnce = await left();
  rig.pass(2);
  const later = await left();
  rig.pass(24);
  const nextDay = await left();

  expect(atOnce).toEqual(["queued", "sent", "fetched", "dead", "orphan"]);
  expect(later).toEqual(["queued", "fetched", "dead"]);
  expect(nextDay).toEqual(["queued"]);
});

test("an agent cannot fill the host's disk by sending", async () => {
  await using rig = await openRig();
  await using full = await openRig({ freeBytes: async () => 1_000 });
  await writeFile(join(rig.group, "file"), "x");
  await writeFile(join(full.group, "file"), "x");
  const file = await rig.files.keep("family", "/workspace/group/file");
  for (let count = 0; count < 8; count += 1) {
    await addRow(rig.store, { ...file, bytes: 60_000_000 }, "http", "accepted");
  }

  await expect(rig.files.keep("family", "/workspace/group/file")).rejects.toThrow("480 MB of files are waiting");
  // Of all its agents together.
  await expect(rig.files.keep("family@cook", "/workspace/group/file")).rejects.toThrow("480 MB of files are waiting");
  await expect(full.files.keep("family", "/workspace/group/file")).rejects.toThrow("nearly full");
});
