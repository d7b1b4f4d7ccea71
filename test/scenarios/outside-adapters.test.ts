import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";
import { stringify } from "yaml";

import { newHome, startCrabpot } from "../support/crabpot.ts";
import { TestHost } from "../support/host.ts";
import { LinePeer } from "../support/line-peer.ts";

const fixtures = resolve(import.meta.dirname, "../fixtures/adapters");
const program = join(fixtures, "main.ts");
const password = "pieces-of-eight-4711";

const models = {
  routes: { main: ["polly/grey"] },
  providers: { polly: { kind: "parrot", sound: "Squawk!", password } },
};

test("a stranger adds a channel and a provider from outside: a message goes in by the one, and the other's answer comes out; their secret is in no log and no reply", async () => {
  await using place = await newHome();
  const socket = join(place.home, "line.sock");
  await using host = await TestHost.start({
    program,
    groups: { den: { channel: "line", chat: "den", trigger: "always" } },
    config: { channels: { http: {}, line: { socket } }, models },
  });
  using peer = await LinePeer.open(socket);

  peer.say({ id: "1", chat: "den", sender: "Long John", text: "land ho" });
  await expect.poll(() => peer.heard("den")).toHaveLength(1);
  const { stdout } = await host.cli("channels", "list", "--json");
  peer.say({ id: "2", chat: "den", sender: "anna", text: `is it ${password}` });
  await expect.poll(() => peer.heard("den")).toHaveLength(2);

  expect(peer.told).toEqual([
    { id: "1", received: true },
    { id: "2", received: true },
  ]);
  const [first, second] = peer.heard("den");
  expect(first).toMatch(/^Squawk! .*land ho$/s);
  expect(stdout).toMatch(/"name":"line","state":"open"/);
  expect(second).toMatch(/is it \[redacted\]$/);
  expect(readFileSync(join(host.home, "logs", "host.log"), "utf8")).not.toContain(password);
});

test.each([
  [{ channels: { line: { sokcet: "/x" } } }, "channels.line.sokcet: unknown key; did you mean socket?"],
  [{ channels: { lime: { socket: "/x" } } }, "channels.lime: unknown key; did you mean line?"],
  [{ channels: { line: { socket: 3 } } }, "channels.line.socket: must be text, not 3"],
  [
    { models: { providers: { polly: { kind: "parot", password } } } },
    'models.providers.polly.kind: must be offline or anthropic or openai or gemini or deepseek or kimi or qwen or openrouter or mistral or groq or xai or ollama or vllm or llama.cpp or parrot, not "parot"; did you mean parrot?',
  ],
  [{ models: { providers: { polly: { kind: "parrot" } } } }, "models.providers.polly.password: is missing"],
])("a configuration that such an adapter does not allow is refused with the path: %j", async (config, fault) => {
  await using place = await newHome({ "config.yaml": stringify(config) });
  const host = startCrabpot({ home: place.home, program });

  const ended = once(host, "exit");

  const said = await text(host.stderr);

  expect(said).toContain(fault);
  expect(await ended).not.toEqual([0, null]);
});

test.each([
  ["add-a-channel.md", "line-channel.ts"],
  ["add-a-provider.md", "parrot-provider.ts"],
])("the guide %s shows the code that these tests run", (guide, file) => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/guides", guide), "utf8");
  const blocks = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
  const code = readFileSync(join(fixtures, file), "utf8");

  expect(blocks).toEqual([code, readFileSync(program, "utf8")]);
  expect([...code.matchAll(/from "([^"]+)"/g)].filter(([, name = ""]) => name.startsWith("."))).toEqual([]);
});
