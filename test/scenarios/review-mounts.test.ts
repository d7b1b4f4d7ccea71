import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { afterAll, expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { setForTest, shareModelHost, type TestGroup } from "../support/shared-host.ts";
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

const names = ["whole", "conflict", "swapped", "auto", "first", "second", "thumbs", "rest", "full", "asking"] as const;
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
    thumbs: { ...base, mounts: [mount("thumbs")] },
    rest: { ...base, mounts: [mount("rest")] },
    full: { ...base, mounts: [mount("full")] },
    asking: { ...base, policy: { tools: { shell: "allow", read_file: "ask" } }, mounts: [mount("asking")] },
  },
  mounts: { roots: [{ path: projects.path, access: "rw" }] },
});

/** Runs, or reads, what stands between the brackets of the message, then says what came of it. */
const works: ModelScript = ({ messages }) => {
  const asked = messages.findLastIndex(({ text }) => text.includes("<messages"));
  const told = messages.slice(asked).find(({ role }) => role === "tool");
  if (told) return { text: `so: ${told.text}` };
  const [, way, command] = /(run|read) \[([^\]]*)\]/.exec(messages[asked]?.text ?? "") ?? [];
  if (command === undefined) return { text: "hello" };
  if (way === "read") return { toolCalls: [{ name: "read_file", input: { path: command } }] };
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

test("a thumb on the card applies all of it; of somebody who may not, nothing", async () => {
  const group = hosts.group("thumbs", works);
  await group.ask("@crab run [cd /workspace/extra/thumbs && echo new > index.html && rm old.css]");
  const asked = (await group.replies()).find(({ text }) => code.test(text)) ?? (await lateCard(group));
  const react = (id: string, who: object) =>
    group.host.react({ id, group: "thumbs", seq: asked.seq, emoji: "👍", ...who });

  await react("one", { sender: { id: "ann", name: "Ann" } });
  await said(group, "is for admins to answer");
  const before = await real("thumbs", "index.html");
  await react("two", bob);
  await said(group, "has applied 2 changes in thumbs");

  expect(before).toBe("<title>Site</title>\n");
  expect([await real("thumbs", "index.html"), await real("thumbs", "old.css")]).toEqual(["new\n", undefined]);
});

async function lateCard(group: TestGroup): Promise<Awaited<ReturnType<TestGroup["replies"]>>[number]> {
  const { code: of } = await card(group);
  const found = (await group.replies()).find(({ text }) => text.includes(of));
  if (!found) throw new Error("no card");
  return found;
}

test("changes are listed, applied and discarded over HTTP", async () => {
  const group = hosts.group("rest", works);
  await group.ask("@crab run [cd /workspace/extra/rest && echo 1 > a && echo 2 > b && echo evil > .envrc]");
  await card(group);
  const { host } = group;
  const post = (way: string, body: object) =>
    fetch(`${host.url}/v1/mounts/rest/${way}`, { method: "POST", headers: host.headers, body: JSON.stringify(body) });

  const listed = (await (await host.get("/v1/mounts/rest/changes")).json()) as { folders: { changes: object[] }[] };
  const planted = (await (await host.get("/v1/mounts/rest/planted")).json()) as { planted: object[] };
  const applied = await post("apply", { target: "rest", paths: ["a"] });
  const unknown = await post("apply", { paths: ["nowhere"] });
  const discarded = await post("discard", {});

  expect(listed.folders[0]?.changes).toMatchObject([
    { path: ".envrc", kind: "added", planted: "direnv" },
    { path: "a", kind: "added", text: "@@ -0,0 +1,1 @@\n+1" },
    { path: "b", kind: "added" },
  ]);
  expect(planted.planted).toMatchObject([
    { target: "rest", path: ".envrc", state: "waiting", change: "added", diff: "@@ -0,0 +1,1 @@\n+evil" },
  ]);
  expect([applied.status, await applied.json()]).toMatchObject([200, { state: "done", done: ["a"], kept: [] }]);
  expect(unknown.status).toBe(404);
  expect([discarded.status, await discarded.json()]).toMatchObject([200, { state: "done", kept: [] }]);
  expect([await real("rest", "a"), await real("rest", "b"), await real("rest", ".envrc")]).toEqual([
    "1\n",
    undefined,
    undefined,
  ]);
});

test("a layer that is full keeps the group out until people have decided; what waits is kept", async () => {
  const group = hosts.group("full", works);
  await using _ = await setForTest(group.host, "sandbox.workspaceMb", 16);
  await group.ask(
    "@crab run [cd /workspace/extra/full && echo kept > kept && head -c 60000000 /dev/urandom > big; echo done]",
  );

  await expect
    .poll(() => group.ask("@crab are you there?"))
    .toMatchObject({ kind: "notice", text: expect.stringContaining("the limit is 16 MiB") });
  const waiting = await group.host.cli("mounts", "diff", "full");
  await group.host.cli("mounts", "discard", "full", "full", "big", "--yes");
  await group.host.cli("mounts", "apply", "full");
  const after = await group.ask("@crab run [cat /workspace/extra/full/kept]");

  expect(waiting.stdout).toContain("+ kept");
  expect(after.text).toContain("so: kept\n");
  expect([await real("full", "kept"), await real("full", "big")]).toEqual(["kept\n", undefined]);
});

test("a covered secret in a folder with review is read by the host when people allow it, else not", async () => {
  await put("asking", { ".env": "the-secret\n" });
  const group = hosts.group("asking", works);
  const inside = await group.ask("@crab run [cd /workspace/extra/asking; cat .env; cp .env x; ls -A; cat x]");
  const decided = async (answer: "approve" | "deny") => {
    const asked = await group.say("@crab read [/workspace/extra/asking/.env]");
    const open = async () => (await group.host.control.call(listApprovals, { group: "asking", all: false }))[0];
    await expect.poll(async () => (await open())?.tool).toBe("read_file");
    const { code: of = "" } = (await open()) ?? {};
    const shown = (await group.replies()).find(({ text }) => text.includes(of))?.text;
    await group.ask(`/${answer} ${of}`, bob);
    return { shown, text: (await group.replyTo(asked.id)).text };
  };

  const denied = await decided("deny");
  const allowed = await decided("approve");

  expect(inside.text).toContain("Permission denied");
  expect(inside.text).not.toContain("the-secret");
  expect(denied.shown).toContain("/workspace/extra/asking/.env");
  expect(denied.text).not.toContain("the-secret");
  expect(allowed.text).toContain("the-secret");
  expect(group.requests[0]?.system).toContain("covered in it: &quot;.env&quot;");
});
