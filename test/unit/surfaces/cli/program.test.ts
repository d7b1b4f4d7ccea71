import { expect, test } from "vitest";
import { stringify } from "yaml";

import {
  type CommandOptions,
  type CommandResult,
  converse,
  converseWithProcess,
  crabpot,
  crabpotProcess,
  newHome,
  withoutEngine,
} from "../../../support/crabpot.ts";
import { openErasableHome } from "../../../support/erasable-home.ts";

/** Each command, by a call that looks at a home without a host as far as it can. */
const calls: Readonly<Record<string, readonly string[]>> = {
  start: ["help", "start"],
  stop: ["stop"],
  reload: ["reload"],
  status: ["status"],
  doctor: ["doctor", "--help"],
  groups: ["groups", "list"],
  chats: ["chats"],
  people: ["people", "forget", "fake:ann"],
  pairing: ["pairing", "list"],
  mounts: ["mounts", "check", "family"],
  image: ["image", "list"],
  sessions: ["sessions", "list"],
  context: ["context", "show", "--group", "family"],
  profiles: ["profiles", "list"],
  prompts: ["prompts", "list"],
  tools: ["tools", "list"],
  policy: ["policy", "show", "family"],
  turns: ["turns", "list"],
  tasks: ["tasks", "list"],
  work: ["work", "list"],
  hooks: ["hooks", "list"],
  jobs: ["jobs", "list"],
  agents: ["agents", "list"],
  approvals: ["approvals", "list"],
  memory: ["memory", "stats", "--group", "family"],
  media: ["media", "install-model", "--from", "/nowhere"],
  skills: ["skills", "list"],
  plugins: ["plugins", "list"],
  mcp: ["mcp", "list"],
  web: ["web", "show"],
  outbox: ["outbox", "list"],
  models: ["models", "list"],
  usage: ["usage"],
  send: ["send", "family", "hello"],
  events: ["events", "tail"],
  logs: ["logs", "--group", "nobody"],
  audit: ["audit", "report"],
  channels: ["channels", "list"],
  config: ["config", "check"],
  redteam: ["help", "redteam"],
  version: ["version"],
};

/** A home in which a host has been, and an engine that is missing: no call has to wait for one. */
async function homeOfStoppedHost(): Promise<CommandOptions & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const config = { channels: { fake: {} }, groups: { family: { channel: "fake", chat: "home" } } };
  const place = stack.use(await newHome({ "config.yaml": stringify(config) }));
  {
    await using home = await openErasableHome(place.home);
    await home.answer([await home.hear({ who: "ann", text: "hello" })], { text: "Hello Ann." });
  }
  const owned = stack.move();
  return { home: place.home, variables: withoutEngine, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("the program that is built does with each command what its sources do", async () => {
  await using place = await homeOfStoppedHost();
  const { stdout } = await crabpotProcess(place, "--help");
  const listed = [...stdout.matchAll(/^ {2}([a-z]+)[ \n]/gm)].map(([, name]) => name).filter((name) => name !== "help");

  const ofProgram: Record<string, CommandResult> = {};
  const ofSources: Record<string, CommandResult> = {};
  for (const [name, args] of Object.entries(calls)) {
    ofProgram[name] = await crabpotProcess(place, ...args);
    ofSources[name] = await crabpot(place, ...args);
  }

  expect(Object.keys(calls).toSorted()).toEqual(listed);
  expect(ofProgram).toEqual(ofSources);
  const silent = Object.entries(ofProgram).filter(([, { stdout: told, stderr }]) => told + stderr === "");
  expect(silent).toEqual([]);
});

test.for([
  ["what is asked from it is done", 0, ["config", "show"]],
  ["a check finds something", 1, ["profiles", "check", "none"]],
  ["the command line is wrong", 2, ["status", "--fast"]],
  ["no host is running", 4, ["status"]],
] as const)("the process ends as the command does when %s: with %i", async ([, code, args]) => {
  await using place = await newHome();

  const ended = await crabpotProcess(place, ...args);

  expect(ended.code).toBe(code);
  expect(ended).toEqual(await crabpot(place, ...args));
});

test("what is piped to the process gets to the command", async () => {
  await using place = await newHome({ "config.yaml": "memory: { embeddings: none }" });
  const orders = '{"op":"add","id":"1","text":"the boat is called Wanda"}\n{"op":"dance"}\n';
  const args = ["memory", "pipe", "--group", "family"] as const;

  const piped = await converseWithProcess(place, orders, ...args);

  expect(piped.stdout.split("\n")).toHaveLength(3);
  expect(piped).toEqual(await converse(place, orders, ...args));
});
