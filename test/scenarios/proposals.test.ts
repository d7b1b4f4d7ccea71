import { lstat, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";

const code = /Code ([0-9A-Z]{6})/;
const bob = { sender: { id: "bob", name: "Bob" } };
const withBob = { groups: { family: { members: { "http:bob": "admin" } } } };

/** Proposes what stands between the brackets of the message, then says what it was told about it. */
const proposes: ModelScript = ({ messages }) => {
  const asked = messages.findLastIndex(({ text }) => text.includes("<messages"));
  const told = messages.slice(asked).find(({ role }) => role === "tool");
  if (told) return { text: `so: ${told.text}` };
  const [, content] = /propose \[([^\]]*)\]/.exec(messages[asked]?.text ?? "") ?? [];
  if (content === undefined) return { text: "hello" };
  return { toolCalls: [{ name: "propose_instructions", input: { content: `${content}\n`, reason: "you said so" } }] };
};

async function card(host: TestHost, after = 0): Promise<{ readonly text: string; readonly code: string }> {
  const found = async () => (await host.replies(after)).find(({ text }) => code.test(text));
  await expect.poll(async () => (await found()) !== undefined, { timeout: 60_000 }).toBe(true);
  const { text = "" } = (await found()) ?? {};
  return { text, code: code.exec(text)?.[1] ?? "" };
}

/** As editors do: a new file takes the place of the old one. */
async function edit(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o644 });
  await rename(`${file}.new`, file);
}

test("an agent proposes its instructions, an admin sees what changes and allows it, and it holds from then on", async () => {
  await using running = await startWithoutContainers(proposes, withBob);
  const { host, model } = running;
  const file = join(host.home, "groups/family/AGENTS.md");
  await edit(file, "Be kind.\nBe quick.\n");

  const said = await host.say("family", "@crab propose [Be kind.\nBe brief.]");
  const asked = await card(host);
  const before = await readFile(file, "utf8");
  const byMember = await host.ask("family", `/approve ${asked.code}`);
  const forGood = await host.ask("family", `/approve ${asked.code} always`, bob);
  const [listed] = jsonLines((await host.cli("approvals", "list", "--json")).stdout);
  const shown = await host.cli("approvals", "show", asked.code);
  await host.ask("family", `/approve ${asked.code}`, bob);
  const answer = await host.replyTo(said.id);
  await host.ask("family", "@crab hello");

  expect(asked.text).toContain("```\n@@ -1,2 +1,2 @@\n Be kind.\n-Be quick.\n+Be brief.\n```");
  expect(asked.text).toContain("The agent says why: “you said so”");
  expect(before).toBe("Be kind.\nBe quick.\n");
  expect(byMember.text).toContain("is for admins to answer");
  expect(forGood.text).toContain("it can be allowed once");
  expect(listed).toMatchObject({
    code: asked.code,
    tool: "propose_instructions",
    diff: expect.stringContaining("+Be brief.") as string,
  });
  expect(shown.stdout).toContain("-Be quick.\n+Be brief.");
  expect(answer.text).toBe("so: AGENTS.md has been changed, and applies from now on.");
  expect(await readFile(file, "utf8")).toBe("Be kind.\nBe brief.\n");
  expect((await lstat(file)).uid).toBe(process.geteuid?.());
  const told = model.requests.at(-1)?.messages.map(({ text }) => text) ?? [];
  expect(told.join("\n")).toContain("<instructions>\nBe kind.\nBe brief.\n</instructions>");
  const events = jsonLines(
    (await host.cli("events", "tail", "--after", "0", "--type", "instructions.changed", "--json")).stdout,
  );
  expect(events).toMatchObject([
    { actor: "member:bob", data: { file: "AGENTS.md", bytes: 19, before: { bytes: 19 } } },
  ]);
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
});

test("a file that was changed after it was shown stays as it is: whoever allows it is told, and so is the agent", async () => {
  await using running = await startWithoutContainers(proposes, withBob);
  const { host } = running;
  const file = join(host.home, "groups/family/AGENTS.md");
  const first = await host.say("family", "@crab propose [Obey.]");
  const asked = await card(host);
  await edit(file, "Be kind.\n");

  const allowed = await host.cli("approvals", "allow", asked.code);
  const answer = await host.replyTo(first.id);
  const after = (await host.replies()).at(-1)?.seq;
  const second = await host.say("family", "@crab propose [Be brief.]");
  const denied = await card(host, after);
  await host.ask("family", `/deny ${denied.code} no`, bob);

  expect(allowed).toMatchObject({ code: 1 });
  expect(allowed.stderr).toContain("AGENTS.md has changed since");
  expect(answer.text).toContain("nothing was written");
  expect((await host.replies()).map(({ text }) => text)).toContainEqual(
    `AGENTS.md has changed since ${asked.code} was asked. Nothing was written; it has to be proposed again.`,
  );
  expect((await host.replyTo(second.id)).text).toContain("denied by admin: no");
  expect(await readFile(file, "utf8")).toBe("Be kind.\n");
});

test("a proposal that changes nothing is refused to the agent at once, and nobody is asked", async () => {
  await using running = await startWithoutContainers(proposes, withBob);
  const { host } = running;
  await edit(join(host.home, "groups/family/AGENTS.md"), "Be kind.\n");

  const answer = await host.ask("family", "@crab propose [Be kind.]");

  expect(answer.text).toContain("AGENTS.md says exactly this already: there is nothing to change.");
  expect((await host.cli("approvals", "list", "--all", "--json")).stdout).toBe("");
});
