import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { afterAll, expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";
import { listApprovals } from "../../src/operations/approvals/operations.ts";
import { readStatus } from "../../src/operations/host/operations.ts";

const run = promisify(execFile);
const isRoot = process.geteuid?.() === 0;
/** Somebody whom the folders belong to. */
const owner = isRoot ? 4321 : (process.geteuid?.() ?? 0);
const code = /Code ([0-9A-Z]{6})/;
const bob = { sender: { id: "bob", name: "Bob" } };

const projects = await temporaryFolder(onDisk);
afterAll(() => projects[Symbol.asyncDispose]());

const names = ["whole", "conflict", "swapped", "auto", "first", "second"] as const;
for (const name of names) await put(name, { "index.html": "<title>Site</title>\n", "old.css": "p {}\n" });

async function put(project: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(projects.path, project, path)), { recursive: true });
    await writeFile(join(projects.path, project, path), text);
  }
  if (isRoot) await run("chown", ["-R", `${owner}:${owner}`, join(projects.path, project)]);
}

function mount(source: string, more: object = {}): object {
  return { source: join(projects.path, source), target: source, access: "review", ...more };
}

const base = { members: { "http:bob": "admin" }, policy: { tools: { shell: "allow" } } };

const hosts = shareModelHost({
  process: "shared",
  groups: {
    whole: { ...base, mounts: [mount("whole")] },
    conflict: { ...base, mounts: [mount("conflict")] },
    swapped: { ...base, mounts: [mount("swapped")] },
    auto: { ...base, mounts: [mount("auto", { review: { apply: "auto-text" } })] },
    two: { ...base, mounts: [mount("first"), mount("second")] },
  },
  mounts: { roots: [{ path: projects.path, access: "rw" }] },
});

/** Runs what stands between the brackets of the message, then says what came of it. */
const works: ModelScript = ({ messages }) => {
  const asked = messages.findLastIndex(({ text }) => text.includes("<messages"));
  const told = messages.slice(asked).find(({ role }) => role === "tool");
  if (told) return { text: `so: ${told.text}` };
  const [, command] = /run \[([^\]]*)\]/.exec(messages[asked]?.text ?? "") ?? [];
  if (command === undefined) return { text: "hello" };
  const plain = command.replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&amp;", "&");
  return { toolCalls: [{ name: "shell", input: { command: plain } }] };
};

async function card(group: TestGroup, known = 0): Promise<{ readonly text: string; readonly code: string }> {
  const found = async () => (await group.replies(known)).find(({ text }) => code.test(text));
  await expect.poll(async () => (await found()) !== undefined).toBe(true);
  const { text = "" } = (await found()) ?? {};
  return { text, code: code.exec(text)?.[1] ?? "" };
}

async function said(group: TestGroup, words: string): Promise<string> {
  const found = async () => (await group.replies()).find(({ text }) => text.includes(words))?.text;
  await expect.poll(found).toBeDefined();
  return (await found()) ?? "";
}

function real(project: string, path: string): Promise<string | undefined> {
  return readFile(join(projects.path, project, path), "utf8").catch(() => undefined);
}

test("an agent changes a project, people see what and apply one path of it, and discard the rest", async () => {
  const group = hosts.group("whole", works);
  const before = await group.ask(
    "@crab run [cd /workspace/extra/whole && mkdir one && echo 1 > one/path && echo 2 > one/other && rm old.css]",
  );
  const asked = await card(group);
  const status = await group.host.control.call(readStatus, {});
  const byMember = await group.ask(`/apply ${asked.code}`);
  const forged = await group.ask("/apply AAAAAA", bob);
  const outside = await group.ask(`/apply ${asked.code} ../whole/one/path /etc/passwd`, bob);
  const untouched = [await real("whole", "one/path"), await real("whole", "old.css")];

  await group.say(`/apply ${asked.code} one/path`, bob);
  await said(group, `has applied one change in whole (${asked.code}-1)`);
  const applied = [await real("whole", "one/path"), await real("whole", "one/other"), await real("whole", "old.css")];
  const diff = await group.host.cli("mounts", "diff", "whole");
  await group.say(`/discard ${asked.code}`, bob);
  await said(group, "has discarded");
  const after = await group.ask("@crab run [cd /workspace/extra/whole && ls; cat one/path]");

  expect(before.text).toContain("exit code 0");
  expect(asked.text).toContain("has changed the folder whole: ");
  expect(asked.text).toContain("+ one/path");
  expect(asked.text).toContain("- old.css");
  expect(status.reviews).toMatchObject([{ group: "whole", target: "whole", code: asked.code }]);
  expect(byMember.text).toContain("is for admins to answer");
  expect(forged.text).toContain("No changes are asked about here with this code");
  expect(outside.text).toContain("Nothing that waits in");
  expect(untouched).toEqual([undefined, "p {}\n"]);
  expect(applied).toEqual(["1\n", undefined, "p {}\n"]);
  expect(diff.stdout).toContain("+ one/other");
  expect(after.text).toMatch(/so: index\.html\nold\.css\none\n1\n/);
  const system = group.requests[0]?.system;
  expect(system).toContain("/workspace/extra/whole (you may change what you see, but the real folder stays as it is");
  const told = group.requests
    .at(-1)
    ?.messages.map(({ text }) => text)
    .join("\n");
  expect(told).toContain("In /workspace/extra/whole people have applied these changes of yours: one/path.");
  expect(told).toContain("people have discarded these changes of yours:");
  const types = (await group.events("review.*")).map((event) => "type" in event && event.type);
  expect(types).toEqual(["review.begun", "review.ended", "review.begun", "review.ended"]);
  expect(await group.host.cli("audit", "verify")).toMatchObject({ code: 0 });
});

test("what the operator has edited meanwhile is kept beside the agent's, and both are told", async () => {
  const group = hosts.group("conflict", works);
  await group.ask("@crab run [cd /workspace/extra/conflict && echo agent > index.html && echo x > new]");
  const asked = await card(group);
  await put("conflict", { "index.html": "operator\n" });

  await group.say(`/apply ${asked.code}`, bob);
  const told = await said(group, "has applied one change");

  expect(told).toContain("index.html has changed");
  expect([await real("conflict", "index.html"), await real("conflict", "new")]).toEqual(["operator\n", "x\n"]);
  const seen = await group.ask("@crab run [cat /workspace/extra/conflict/index.html]");
  expect(seen.text).toContain("so: agent\n");
});

test("what a later turn swaps is not what an old card applies", async () => {
  const group = hosts.group("swapped", works);
  await group.ask("@crab run [echo harmless > /workspace/extra/swapped/run.txt]");
  const old = await card(group);
  await group.ask("@crab run [echo evil > /workspace/extra/swapped/run.txt]");
  const newest = async () => (await group.host.control.call(listApprovals, { group: "swapped", all: false }))[0]?.code;
  await expect.poll(newest).not.toBe(old.code);

  const answer = await group.ask(`/apply ${old.code}`, bob);

  expect(answer.text).toContain(`${old.code} is no longer needed: the folder has changed again, and ${await newest()}`);
  expect(await real("swapped", "run.txt")).toBeUndefined();
});

test("by auto-text plain text is applied by itself, and a planted file is asked about", async () => {
  const group = hosts.group("auto", works);
  await group.ask("@crab run [cd /workspace/extra/auto && echo note > note.txt && echo evil > .envrc]");
  const asked = await card(group);
  await said(group, "The setting review.apply has applied one change in auto");

  expect(asked.text).toContain("⚠ + .envrc");
  expect([await real("auto", "note.txt"), await real("auto", ".envrc")]).toEqual(["note\n", undefined]);
});

test("each of two folders has its card; the operator decides by command, and over the same records", async () => {
  const group = hosts.group("two", works);
  await group.ask("@crab run [echo 1 > /workspace/extra/first/a; echo 2 > /workspace/extra/second/b]");
  const open = async () => (await group.replies()).filter(({ text }) => code.test(text)).length;
  await expect.poll(open).toBe(2);

  const unclear = await group.host.cli("mounts", "apply", "two", "--json");
  const applied = await group.host.cli("mounts", "apply", "two", "first", "a", "--json");
  const discarded = await group.host.cli("mounts", "discard", "two", "second", "--yes", "--json");

  expect(unclear.stderr).toContain("several folders with review");
  expect(jsonLines(applied.stdout)).toMatchObject([{ state: "done", done: ["a"], kept: [] }]);
  expect(jsonLines(discarded.stdout)).toMatchObject([{ state: "done", done: ["b"], kept: [] }]);
  expect([await real("first", "a"), await real("second", "b")]).toEqual(["1\n", undefined]);
});
