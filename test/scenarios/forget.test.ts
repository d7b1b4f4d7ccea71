import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import { jsonLines } from "../support/crabpot.ts";
import { openEmbeddedHost } from "../support/embedded-host.ts";
import { modelKey } from "../support/model-host.ts";
import { startOpenAiServer } from "../support/model-servers/openai.ts";

type Host = Awaited<ReturnType<typeof openEmbeddedHost>>;

function configOf(url: string): object {
  return {
    models: {
      routes: { main: ["gpt/test-model"] },
      providers: { gpt: { kind: "openai", apiKey: modelKey, baseUrl: url } },
    },
    memory: { enabled: true, embeddings: "none", extract: { everyMessages: 2 } },
    members: { "fake:anna": "member", "fake:bert": "member", "fake:olga": "owner" },
  };
}

/** Says something and gives what is answered. */
async function ask(host: Host, text: string, sender: string): Promise<string> {
  const before = host.channel.heard("home").length;
  await host.channel.say("home", text, { sender });
  await expect.poll(() => host.channel.heard("home").length).toBeGreaterThan(before);
  return host.channel.heard("home").at(-1) ?? "";
}

async function facts({ home }: Host): Promise<string[]> {
  using memory = MemoryFile.open(join(home, "memory", "office.sqlite"));
  return memory.list({ except: "conversation", limit: 100 }).map(({ text }) => text);
}

test("facts are shown and forgotten in the chat, and a person everywhere, while the host runs", async () => {
  const asked: string[] = [];
  await using model = await startOpenAiServer(({ system, lastText, messages, toolOutputs }) => {
    if (system.includes("lasting facts")) {
      const drawn = [
        { text: "Anna's boat is called Marzipan", category: "core", sources: ["said-1"] },
        { text: "Bert collects thimbles", category: "core", sources: ["said-2"] },
      ];
      return { text: JSON.stringify({ facts: lastText.includes("<fact ") ? [] : drawn }) };
    }
    asked.push(JSON.stringify(messages));
    if (lastText.includes("Marzipan") && toolOutputs.length === 0)
      return {
        toolCalls: [
          { name: "shell", input: { command: "echo Marzipan > /workspace/group/boat.txt; echo Marzipan >&2" } },
        ],
      };
    return { text: lastText.includes("thimbles") ? "Thimbles and the Marzipan!" : "Noted." };
  });
  await using host = await openEmbeddedHost(configOf(model.url));
  await ask(host, "my boat is called Marzipan", "anna");
  await ask(host, "I collect thimbles", "bert");
  await expect.poll(() => facts(host)).toHaveLength(2);

  expect(await ask(host, "/help", "bert")).toContain("/memory [forget N]");
  expect(await ask(host, "/memory forget 1", "bert")).toContain("Use /memory first");
  const list = await ask(host, "/memory", "bert");
  const numberOf = (words: string): string =>
    list
      .split("\n")
      .find((line) => line.includes(words))
      ?.split(".")[0] ?? "";
  expect(list).toMatch(/Anna's boat is called Marzipan \(core, \d{4}-.*, "anna"\)/);
  expect(await ask(host, `/memory forget ${numberOf("Marzipan")}`, "bert")).toContain('Only "anna" or an admin');
  expect(await ask(host, `/memory forget ${numberOf("thimbles")}`, "bert")).toContain(
    "Forgot number 1: Bert collects thimbles",
  );
  expect(await facts(host)).toEqual(["Anna's boat is called Marzipan"]);
  await writeFile(join(host.home, "logs", "old.log"), `{"level":"info","err":"about Marzipan","n":1}\n`);

  const refused = await host.cli("people", "forget", "fake:anna", "--json");
  expect(refused.code).toBe(3);
  expect(jsonLines(refused.stdout)).toMatchObject([
    { state: "would be erased", ids: ["fake:anna"], groups: ["office"] },
  ]);
  expect(await host.find("Marzipan")).not.toEqual([]);
  const done = await host.cli("people", "forget", "fake:anna", "--yes", "--json");

  expect([done.code, done.stderr]).toEqual([0, ""]);
  expect(jsonLines(done.stdout)).toMatchObject([
    {
      state: "erased",
      ids: ["fake:anna"],
      groups: ["office"],
      files: [join("groups", "office", "boat.txt")],
      left: [],
    },
  ]);
  expect(await host.find("Marzipan")).toEqual([join(host.home, "groups", "office", "boat.txt")]);
  expect((await host.find("I collect thimbles")).map((path) => path.slice(host.home.length + 1)).toSorted()).toEqual([
    "crabpot.sqlite",
    "memory/office.sqlite",
  ]);
  expect((await host.cli("audit", "verify")).code).toBe(0);
  // The conversation goes on, from the history as it is now.
  await ask(host, "and now?", "bert");
  expect(asked.at(-1)).toContain("I collect thimbles");
  expect(asked.at(-1)).not.toContain("Marzipan");
  const events = jsonLines((await host.cli("events", "tail", "--after", "0", "--type", "person.*", "--json")).stdout);
  expect(events.map(({ type }) => type)).toEqual(["person.erasing", "person.erased"]);
  expect(JSON.stringify(events)).not.toContain("anna");
});
