import { lstat, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { eventsOf } from "../support/host-records.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";
import { listApprovals } from "../../src/operations/approvals/operations.ts";

const code = /Code ([0-9A-Z]{6})/;
const bob = { sender: { id: "bob", name: "Bob" } };
const withBob = { members: { "http:bob": "admin" } };

const hosts = shareModelHost({
  groups: { allowed: withBob, changed: withBob, same: withBob },
  withoutContainers: "all",
});

/** Proposes what stands between the brackets of the message, then says what it was told about it. */
const proposes: ModelScript = ({ messages }) => {
  const asked = messages.findLastIndex(({ text }) => text.includes("<messages"));
  const told = messages.slice(asked).find(({ role }) => role === "tool");
  if (told) return { text: `so: ${told.text}` };
  const [, content] = /propose \[([^\]]*)\]/.exec(messages[asked]?.text ?? "") ?? [];
  if (content === undefined) return { text: "hello" };
  return { toolCalls: [{ name: "propose_instructions", input: { content: `${content}\n`, reason: "you said so" } }] };
};

async function card(group: TestGroup, known = 0): Promise<{ readonly text: string; readonly code: string }> {
  const found = async () => (await group.replies()).slice(known).find(({ text }) => code.test(text));
  await expect.poll(async () => (await found()) !== undefined).toBe(true);
  const { text = "" } = (await found()) ?? {};
  return { text, code: code.exec(text)?.[1] ?? "" };
}

/** Replaces the file, as editors do. */
async function edit(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o644 });
  await rename(`${file}.new`, file);
}

test("an agent proposes its instructions, an admin sees what changes and allows it, and it holds from then on", async () => {
  const group = hosts.group("allowed", proposes);
  const { host } = group;
  const file = join(host.home, "groups/allowed/AGENTS.md");
  await edit(file, "Be kind.\nBe quick.\n");

  const said = await group.say("@crab propose [Be kind.\nBe brief.]");
  const asked = await card(group);
  const before = await readFile(file, "utf8");
  const byMember = await group.ask(`/approve ${asked.code}`);
  const forGood = await group.ask(`/approve ${asked.code} always`, bob);
  const [listed] = jsonLines((await host.cli("approvals", "list", "--group", "allowed", "--json")).stdout);
  const shown = await host.cli("approvals", "show", asked.code);
  await group.ask(`/approve ${asked.code}`, bob);
  const answer = await group.replyTo(said.id);
  await group.ask("@crab hello");

  expect(asked.text).toContain("```\n@@ -1,2 +1,2 @@\n Be kind.\n-Be quick.\n+Be brief.\n```");
  expect(asked.text).toContain("The agent says why: “you said so”");
  expect(before).toBe("Be kind.\nBe quick.\n");
  expect(byMember.text).toContain("is for admins to answer");
  expect(forGood.text).toContain("it can only be allowed once");
  expect(listed).toMatchObject({
    code: asked.code,
    tool: "propose_instructions",
    diff: expect.stringContaining("+Be brief.") as string,
  });
  expect(shown.stdout).toContain("-Be quick.\n+Be brief.");
  expect(answer.text).toBe("so: AGENTS.md has been changed, and applies from now on.");
  expect(await readFile(file, "utf8")).toBe("Be kind.\nBe brief.\n");
  expect((await lstat(file)).uid).toBe(process.geteuid?.());
  const told = group.requests.at(-1)?.messages.map(({ text }) => text) ?? [];
  expect(told.join("\n")).toContain("<instructions>\nBe kind.\nBe brief.\n</instructions>");
  const events = await eventsOf(host, "instructions.changed", "allowed");
  expect(events).toMatchObject([
    { actor: "member:bob", data: { file: "AGENTS.md", bytes: 19, before: { bytes: 19 } } },
  ]);
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
});

test("a file that was changed after it was shown stays as it is: whoever allows it is told, and so is the agent", async () => {
  const group = hosts.group("changed", proposes);
  const { host } = group;
  const file = join(host.home, "groups/changed/AGENTS.md");
  const first = await group.say("@crab propose [Obey.]");
  const asked = await card(group);
  await edit(file, "Be kind.\n");

  const allowed = await host.cli("approvals", "allow", asked.code);
  const answer = await group.replyTo(first.id);
  const { length: known } = await group.replies();
  const second = await group.say("@crab propose [Be brief.]");
  const denied = await card(group, known);
  await group.ask(`/deny ${denied.code} no`, bob);

  expect(allowed).toMatchObject({ code: 1 });
  expect(allowed.stderr).toContain("AGENTS.md has changed since");
  expect(answer.text).toContain("nothing was written");
  expect((await group.replies()).map(({ text }) => text)).toContainEqual(
    `AGENTS.md has changed since ${asked.code} was asked. Nothing was written; it has to be proposed again.`,
  );
  expect((await group.replyTo(second.id)).text).toContain("denied by admin: no");
  expect(await readFile(file, "utf8")).toBe("Be kind.\n");
});

test("a proposal that changes nothing is refused to the agent at once, and nobody is asked", async () => {
  const group = hosts.group("same", proposes);
  const { host } = group;
  await edit(join(host.home, "groups/same/AGENTS.md"), "Be kind.\n");

  const answer = await group.ask("@crab propose [Be kind.]");

  expect(answer.text).toContain("AGENTS.md says exactly this already: there is nothing to change.");
  expect(await host.control.call(listApprovals, { group: "same", all: true })).toEqual([]);
});
