import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { eventsOf } from "../support/host-records.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { keepRunning, restart } from "../support/restarts.ts";
import { shareModelHost } from "../support/shared-host.ts";

/** Calls what stands as JSON between the brackets of the message, one after another, and says what came of it. */
const calls: ModelScript = ({ messages }) => {
  const asked = messages.findLastIndex(({ text }) => text.includes("<messages"));
  const told = messages.slice(asked).filter(({ role }) => role === "tool");
  const text = (messages[asked]?.text ?? "")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
  const wanted = JSON.parse(/\[\[(.*)\]\]/s.exec(text)?.[1] ?? "[]") as { name: string; input: object }[];
  const next = wanted[told.length];
  return next ? { toolCalls: [next] } : { text: told.map((result) => result.text).join("\n---\n") || "ok" };
};

function say(...wanted: readonly object[]): string {
  return `@crab do [[${JSON.stringify(wanted)}]]`;
}

function call(name: string, input: object = {}): object {
  return { name, input };
}

const toml = `
[[tools]]
name = "greet"
description = "Greets somebody."
kind = "shell"
command = "printf 'HELLO %s\\n' {{who}}"
args = { who = "Whom" }

[[tools]]
name = "count"
description = "Counts letters."
kind = "script"
command = "scripts/count.py {{text}}"
args = { text = "What" }

[[tools]]
name = "fetch"
description = "Fetches a page."
kind = "http"
command = "http://127.0.0.1:9/{{page}}"
args = { page = "Which" }
timeout_s = 5
`;

const open = { skills: "all" };

const hosts = shareModelHost({
  groups: {
    family: open,
    plain: {},
    strict: { ...open, policy: { tools: { shell: "deny" } } },
    picky: { ...open, policy: { tools: { speech__greet: "deny" } } },
    asked: { ...open, members: { "http:bob": "admin" }, policy: { tools: { shell: "ask" } } },
  },
  config: { policy: { preset: "open" } },
  withoutContainers: ["plain", "strict"],
});
keepRunning(() => hosts.running);

async function installSkill(host: TestHost, manifest: string) {
  const folder = join(host.home, "sources/speech");
  await mkdir(join(folder, "scripts"), { recursive: true });
  await writeFile(join(folder, "SKILL.md"), "---\nname: speech\ndescription: Speaks.\n---\nUse the tools.\n");
  await writeFile(join(folder, "SKILL.toml"), manifest);
  await writeFile(join(folder, "scripts/count.py"), "import sys\nprint('COUNTED', len(sys.argv[1]))\n");
  const planned = await host.cli("skills", "install", folder);
  await host.cli("skills", "install", folder, "--yes");
  return planned.stdout;
}

test("tools of a skill are offered to groups that have it, run in their container with exact values, and are judged as commands", async () => {
  const group = hosts.group("family", calls);
  const [plain, strict, picky] = [
    hosts.group("plain", calls),
    hosts.group("strict", calls),
    hosts.group("picky", calls),
  ];
  const { host } = group;
  const shown = await installSkill(host, toml);
  const evil = `$(touch /workspace/group/EVIL)'; touch /workspace/group/EVIL; echo '`;

  const { text } = await group.ask(
    say(
      call("speech__greet", { who: evil }),
      call("speech__count", { text: "four" }),
      call("speech__fetch", { page: "a/b" }),
      call("speech__greet", { who: 1 }),
      call("shell", { command: "ls /workspace/group" }),
    ),
  );
  const offered = group.requests.at(-1)?.tools ?? [];
  await plain.ask("@crab hello");
  const others = plain.requests.at(-1)?.tools ?? [];
  const byStrict = await strict.ask(say(call("speech__greet", { who: "x" })));
  const strictTools = strict.requests.at(-1)?.tools ?? [];
  const byPicky = await picky.ask(say(call("speech__greet", { who: "x" }), call("speech__count", { text: "x" })));
  const listed = jsonLines((await host.cli("tools", "list", "--group", "family", "--json")).stdout);
  const outputs = text.split("\n---\n");

  expect(shown).toContain("brings the tool speech__greet (shell, risk medium or more): printf");
  expect(outputs[0]).toContain(`HELLO ${evil}\n[exit code 0`);
  expect(outputs[1]).toContain("COUNTED 4");
  expect(outputs[2]).toContain("curl: (7)");
  expect(outputs[3]).toContain("The input of speech__greet is wrong: who");
  expect(outputs[4]).not.toContain("EVIL");
  expect(offered.filter((name) => name.startsWith("speech__"))).toEqual([
    "speech__count",
    "speech__fetch",
    "speech__greet",
  ]);
  expect(others.filter((name) => name.startsWith("speech__"))).toEqual([]);
  expect(strictTools.filter((name) => name.startsWith("speech__"))).toEqual([]);
  expect(byStrict.text).not.toContain("HELLO");
  expect(byPicky.text).toContain("does not allow");
  expect(byPicky.text).toContain("COUNTED 1");
  expect(listed.find(({ name }) => name === "speech__count")).toMatchObject({ runs: "container", offered: true });
  const told = await eventsOf(host, "tool.called", "family");
  expect(told.map(({ data }) => data["name"])).toContain("speech__greet");
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
});

const code = /Code ([0-9A-Z]{6})/;

test("people are shown the command, and exactly that runs, though the skill is another one by then and the host was killed", async () => {
  const group = hosts.group("asked", calls);
  const { host } = group;
  await installSkill(host, toml);
  const cards = async () => (await group.replies()).filter(({ text }) => code.test(text));
  const cardAfter = async (seen: number): Promise<string> => {
    await expect.poll(async () => (await cards()).length).toBeGreaterThan(seen);
    return (await cards()).at(-1)?.text ?? "";
  };
  const approve = async (card: string, scope: string): Promise<void> => {
    const text = `/approve ${code.exec(card)?.[1] ?? ""} ${scope}`;
    await group.ask(text, { sender: { id: "bob", name: "Bob" } });
  };

  const said = await group.say(say(call("speech__greet", { who: "Ann's" })));
  const card = await cardAfter(0);
  await installSkill(host, toml.replace("HELLO", "GOODBYE"));
  await restart(host);
  await approve(card, "always");
  const answer = await group.replyTo(said.id);
  // What was allowed for always was another command.
  const again = await group.say(say(call("speech__greet", { who: "Ann's" })));
  const other = await cardAfter(1);
  await approve(other, "once");

  expect(card).toContain("May I use speech greet");
  expect(card).toContain(String.raw`printf 'HELLO %s\n' 'Ann'\\''s'`);
  expect(answer.text).toContain("HELLO Ann's");
  expect(other).toContain("GOODBYE");
  expect((await group.replyTo(again.id)).text).toContain("GOODBYE Ann's");
});
