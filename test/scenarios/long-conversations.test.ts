import { isDeepStrictEqual } from "node:util";

import { expect, test } from "vitest";

import { startModelHost, startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript, ModelServerRequest } from "../support/model-servers/model-server.ts";

/** A model with a small window. */
const models = { capabilities: { "gpt/test-model": { contextTokens: 24_000, maxOutputTokens: 2_000 } } };

function asksForSummary({ lastText }: ModelServerRequest): boolean {
  return lastText.includes('kind="compaction"');
}

/** Sums up as it is asked to, with every code that it has seen. */
function goodSummary({ messages }: ModelServerRequest): string {
  const codes = messages.flatMap(({ text }) => text.match(/(?<=code is |identifiers.*)4\d{3}\b/g) ?? []);
  return `Facts and identifiers: ${[...new Set(codes)].join(" ")}`;
}

/** What a request has, about. */
function sizeOf({ body }: ModelServerRequest): number {
  return Math.round(JSON.stringify(body).length / 3.5);
}

function sent(request: ModelServerRequest | undefined): readonly unknown[] {
  return (request?.body as { messages: unknown[] } | undefined)?.messages ?? [];
}

const sumsUp: ModelScript = (request) => ({ text: asksForSummary(request) ? goodSummary(request) : "noted" });

/** The same, and says how large a request was. */
const counts: ModelScript = (request) =>
  asksForSummary(request)
    ? { text: goodSummary(request) }
    : { text: "noted", usage: { input: sizeOf(request), output: 5 } };

function isLarge(request: ModelServerRequest): boolean {
  return sizeOf(request) > 12_000;
}

interface Shown {
  readonly first: number;
  readonly last: number;
  readonly summaries: readonly { readonly from: number; readonly to: number; readonly kind: string }[];
  readonly raw: { readonly from: number; readonly to: number };
  readonly tokens: {
    readonly window: number;
    readonly total: number;
    readonly bySection: Readonly<Record<string, number>>;
  };
  readonly entries: readonly { readonly entry: number }[];
}

type Host = Awaited<ReturnType<typeof startModelHost>>["host"];

async function show(host: Host, ...more: string[]): Promise<Shown> {
  const { stdout } = await host.cli("context", "show", "--group", "family", "--json", ...more);
  return JSON.parse(stdout) as Shown;
}

/** What is wrong with how the log is covered. */
function faultsOf({ first, last, summaries, raw, entries }: Shown): string[] {
  const ends = [...summaries, raw];
  const gaps = ends.flatMap(({ from }, index) => {
    const expected = index === 0 ? first : (ends[index - 1]?.to ?? 0) + 1;
    return from === expected ? [] : [`${from} instead of ${expected}`];
  });
  const listed = entries.map(({ entry }) => entry);
  const isWhole = listed.length === last && listed.every((entry, index) => entry === index + 1);
  return [...gaps, ...(raw.to === last ? [] : [`raw ends at ${raw.to}`]), ...(isWhole ? [] : ["the log has gaps"])];
}

const filler = "we walked along the river and talked about the garden ".repeat(8);
const said = (index: number): string => `@crab the code is ${4_000 + index}: ${filler}`;
/** Fills a window with fewer turns. */
const saidAtLength = (index: number): string => said(index) + filler.repeat(3);

test("a conversation of any length goes on: its older part is summed up, each entry once, and is shown as that", async () => {
  await using running = await startModelHost(counts, { models, withoutContainers: "all" });
  const { host } = running;

  let index = 0;
  while (!running.model.requests.some(isLarge)) await host.ask("family", said((index += 1)));
  await expect.poll(async () => (await show(host)).summaries.length).toBeGreaterThan(0);
  const shown = await show(host, "--raw");
  await host.ask("family", "@crab what was it about?");

  expect(faultsOf(shown)).toEqual([]);
  expect(shown.last).toBe(2 * index);
  expect(shown.tokens).toMatchObject({ window: 24_000 });
  const requests = running.model.requests;
  const first = requests.find(asksForSummary);
  const before = requests[(first?.index ?? 0) - 1];
  // The same beginning as the turn's before, to the byte, and one message more.
  expect(sent(first).slice(0, sent(before).length)).toEqual(sent(before));
  expect(sent(first)).toHaveLength(sent(before).length + 2);
  const last = requests.findLast((request) => !asksForSummary(request));
  expect(last?.messages[0]?.text).toMatch(/^<summary from="1" to="\d+">\nFacts and identifiers:/);
  expect(last?.messages.length).toBeLessThan(100);
  const { stdout } = await host.cli("events", "tail", "--type", "context.*", "--after", "0", "--json");
  expect(stdout).toContain("context.compacting");
  expect(stdout).toContain("context.compacted");
  expect(stdout).not.toContain("river");
}, 300_000);

/** Prompts that begin in another way than the one before them, although no other summary stands there. */
function rewrittenIn(requests: readonly ModelServerRequest[]): number[] {
  const prompts = requests.filter((request) => !asksForSummary(request)).map((request) => sent(request));
  return prompts.flatMap((prompt, index) => {
    const before = prompts[index - 1] ?? [];
    const isGrown = before.every((message, at) => isDeepStrictEqual(message, prompt[at]));
    const covers = [before, prompt].map((messages) => JSON.stringify(messages[1] ?? ""));
    const isCompacted = covers[1]?.includes("<summary from=") === true && covers[0] !== covers[1];
    return isGrown || isCompacted ? [] : [index];
  });
}

test("two hundred messages to a host that is killed again and again: each is answered once and covered once, nothing is lost, and prompts change at their end only", async () => {
  await using running = await startWithoutContainers(counts, { models });
  const { host } = running;
  const ids: string[] = [];

  for (let index = 0; index < 200; index += 1) {
    const { id } = await host.say("family", said(index));
    ids.push(id);
    if (index % 20 === 10) {
      await host.end("SIGKILL");
      await host.boot();
    }
    await host.replyTo(id);
  }
  await host.ask("family", "@crab what were the codes?");
  const shown = await show(host, "--raw");

  const answers = Map.groupBy(
    (await allReplies(host)).flatMap(({ inReplyTo }) => inReplyTo),
    (id) => id,
  );
  expect(ids.map((id) => answers.get(id)?.length)).toEqual(ids.map(() => 1));
  expect(faultsOf(shown)).toEqual([]);
  expect(shown.summaries.length).toBeGreaterThan(0);
  expect(rewrittenIn(running.model.requests)).toEqual([]);
  const last = JSON.stringify(sent(running.model.requests.findLast((request) => !asksForSummary(request))));
  expect(ids.flatMap((_, index) => (last.includes(String(4_000 + index)) ? [] : [index]))).toEqual([]);
}, 600_000);

test("killed at each point of a compaction, the host covers each entry once, and says once what came of it", async () => {
  await using running = await startModelHost(sumsUp, { models, withoutContainers: "all" });
  const { host } = running;
  for (let index = 0; index < 10; index += 1) await host.ask("family", saidAtLength(index));
  const points = [
    "before:record.context-compacting",
    "after:record.context-compacting",
    "before:record.context-compacted",
    "before:summaries.add",
    "after:summaries.add",
    "before:summaries.settleRequest",
    "after:summaries.settleRequest",
  ];
  const missed: string[] = [];

  for (const [index, at] of points.entries()) {
    const asked = `compact-${index}`;
    if (!(await host.dieAt(at, () => host.say("family", "/compact", { id: asked })))) missed.push(at);
    await host.say("family", "/compact", { id: asked });
    await expect.poll(async () => noticesFor(host, asked), { timeout: 20_000 }).toHaveLength(1);
    expect(faultsOf(await show(host, "--raw"))).toEqual([]);
    for (let more = 0; more < 4; more += 1) await host.ask("family", saidAtLength(100 * index + 50 + more));
    expect(await noticesFor(host, asked)).toHaveLength(1);
  }

  expect(missed).toEqual([]);
}, 600_000);

test("whatever a model makes of a request for a summary, the conversation goes on and its prompts stay in the window", async () => {
  const answers: Record<string, ModelScript> = {
    empty: () => ({ text: "" }),
    "too long": ({ messages }) => ({ text: messages.map(({ text }) => text).join("\n") }),
    "calls a tool": () => ({ toolCalls: [{ name: "shell", input: { command: "touch /workspace/group/stolen" } }] }),
    "not at all": () => ({ fault: "status", status: 500 }),
  };
  const names = Object.keys(answers);
  const groupOf = (request: ModelServerRequest): string =>
    names.find((name) => request.system.includes(`chat group "${slug(name)}"`)) ?? "";
  const model: ModelScript = (request) =>
    asksForSummary(request) ? (answers[groupOf(request)]?.(request) ?? { text: "" }) : { text: "noted" };
  await using running = await startModelHost(model, {
    models: { ...models, attempts: 1 },
    groups: Object.fromEntries(names.map((name) => [slug(name), {}])),
    withoutContainers: "all",
  });
  const { host } = running;
  const states: Record<string, string> = {};

  const talk = async (name: string): Promise<void> => {
    for (let index = 0; index < 28; index += 1) {
      const reply = await host.ask(slug(name), saidAtLength(index));
      states[name] = reply.text;
    }
    const { stdout } = await host.cli("context", "show", "--group", slug(name), "--raw", "--json");
    const shown = JSON.parse(stdout) as Shown;
    expect({ name, faults: faultsOf(shown) }).toEqual({ name, faults: [] });
    expect(shown.summaries.map(({ kind }) => kind)).toEqual(["eviction"]);
    expect(shown.tokens.total).toBeLessThanOrEqual(22_000);
  };
  await Promise.all(names.map(talk));

  expect(states).toEqual(Object.fromEntries(names.map((name) => [name, "noted"])));
}, 600_000);

function slug(name: string): string {
  return name.replaceAll(" ", "-");
}

/** What the host has said about this message. */
async function noticesFor(host: Host, id: string): Promise<string[]> {
  const replies = await allReplies(host);
  return replies.flatMap(({ kind, inReplyTo, text }) => (kind === "notice" && inReplyTo.includes(id) ? [text] : []));
}

async function allReplies(host: Host): ReturnType<Host["replies"]> {
  const found: Awaited<ReturnType<Host["replies"]>> = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const replies: Awaited<ReturnType<Host["replies"]>> = await host.replies(after);
    found.push(...replies);
    after = replies.at(-1)?.seq;
  }
  return found;
}

test("what a conversation takes is said in the chat, on the command line, over HTTP, and when no host runs", async () => {
  await using running = await startModelHost(sumsUp, { models, withoutContainers: "all" });
  const { host } = running;
  await host.say("family", "/context", { id: "early" });
  await expect.poll(async () => (await noticesFor(host, "early")).join("\n")).toContain("tools: ");
  const expected = await show(host);
  await host.ask("family", said(1));
  await host.say("family", "/context", { id: "look" });
  await host.say("family", "/compact", { id: "shorten" });
  const noticed = async (id: string): Promise<string> => (await noticesFor(host, id)).join("\n");
  await expect.poll(() => noticed("shorten"), { timeout: 20_000 }).toContain("There is nothing to sum up");

  expect(await noticed("look")).toMatch(/^This conversation takes about [\d,]+ of 24,000 tokens\.\nhow I work: /);
  const shown = await show(host);
  const headers = { authorization: "Bearer test-token-0123456789" };
  const answer = await fetch(`${host.url}/v1/context/family`, { headers });
  const unknown = await fetch(`${host.url}/v1/context/nowhere`, { headers });
  await host.end("SIGTERM");

  expect(shown).toMatchObject({ first: 1, last: 2, summaries: [], raw: { from: 1, to: 2 } });
  // Before anything was said to a model: what its first call would have.
  const { system, instructions, tools } = shown.tokens.bySection;
  expect(expected).toMatchObject({ last: 0, tokens: { bySection: { system, instructions, tools, messages: 0 } } });
  expect(await answer.json()).toEqual(shown);
  expect(unknown.status).toBe(404);
  expect(await show(host)).toEqual(shown);
}, 120_000);
