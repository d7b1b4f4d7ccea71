import { isDeepStrictEqual } from "node:util";

import { expect, test, vi } from "vitest";

import type { ContextView } from "../../src/domain/turns/context-view.ts";
import type { ModelScript, ModelServerRequest } from "../support/model-servers/model-server.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";
import { showContext } from "../../src/operations/contexts/operations.ts";

// Many turns in one test.
vi.setConfig({ testTimeout: 600_000 });

/** A model with a small window, which is asked once. */
const models = {
  capabilities: { "gpt/test-model": { contextTokens: 24_000, maxOutputTokens: 2_000 } },
  attempts: 1,
};
/** Two hosts: what a model says of the size of requests is learned for all groups. */
const counting = shareModelHost({ groups: { long: {}, killed: {}, waited: {} }, models, withoutContainers: "all" });
const others = shareModelHost({
  groups: { dying: {}, empty: {}, "too-long": {}, "calls-a-tool": {}, "not-at-all": {}, shown: {} },
  models,
  withoutContainers: "all",
});

function asksForSummary({ lastText }: ModelServerRequest): boolean {
  return lastText.includes('kind="compaction"');
}

/** Sums up as it is asked to, with every code that it has seen. */
function goodSummary({ messages }: ModelServerRequest): string {
  const codes = messages.flatMap(({ text }) => text.match(/(?<=code is |identifiers.*)4\d{3}\b/g) ?? []);
  return `Facts and identifiers: ${[...new Set(codes)].join(" ")}`;
}

/** Approximate size of a request. */
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

function show({ host, name }: TestGroup, raw = false): Promise<ContextView> {
  return host.control.call(showContext, { group: name, session: undefined, raw });
}

/** Faults in the cover of the log. */
function faultsOf({ first, last, summaries, raw, entries = [] }: ContextView): string[] {
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
  const group = counting.group("long", counts);

  let index = 0;
  while (!group.requests.some(isLarge)) await group.ask(saidAtLength((index += 1)));
  await expect.poll(async () => (await show(group)).summaries.length).toBeGreaterThan(0);
  const shown = await show(group, true);
  await group.ask("@crab what was it about?");

  expect(faultsOf(shown)).toEqual([]);
  expect(shown.last).toBe(2 * index);
  expect(shown.tokens).toMatchObject({ window: 24_000 });
  const { requests } = group;
  const first = requests.find(asksForSummary);
  const before = requests[(first?.index ?? 0) - 1];
  // The same beginning as the turn's before, to the byte, and one message more.
  expect(sent(first).slice(0, sent(before).length)).toEqual(sent(before));
  expect(sent(first)).toHaveLength(sent(before).length + 2);
  const last = requests.findLast((request) => !asksForSummary(request));
  expect(last?.messages[0]?.text).toMatch(/^<summary from="1" to="\d+">\nFacts and identifiers:/);
  expect(last?.messages.length).toBeLessThan(100);
  const tail = ["events", "tail", "--type", "context.*", "--group", "long"];
  const { stdout } = await group.host.cli(...tail, "--after", "0", "--json");
  expect(stdout).toContain("context.compacting");
  expect(stdout).toContain("context.compacted");
  expect(stdout).not.toContain("river");
});

/** Prompts that begin in another way than the one before them, although no other summary stands there, and where. */
function rewrittenIn(requests: readonly ModelServerRequest[]): string[] {
  const prompts = requests.filter((request) => !asksForSummary(request)).map((request) => sent(request));
  return prompts.flatMap((prompt, index) => {
    const before = prompts[index - 1] ?? [];
    const at = before.findIndex((message, place) => {
      const isLast = place === before.length - 1;
      return !isDeepStrictEqual(message, prompt[place]) && !(isLast && goesOn(message, prompt[place]));
    });
    const covers = [before, prompt].map((messages) => JSON.stringify(messages[1] ?? ""));
    const isCompacted = covers[1]?.includes("<summary from=") === true && covers[0] !== covers[1];
    if (at < 0 || isCompacted) return [];
    return [`prompt ${index}, message ${at} of ${before.length}: ${told(before[at])} became ${told(prompt[at])}`];
  });
}

/** True when a person's message goes on with more: two in a row are one for some vendors. */
function goesOn(before: unknown, after: unknown): boolean {
  const [one, other] = [before, after] as { readonly role: string; readonly content: unknown }[];
  const isUsers = one?.role === "user" && other?.role === "user";
  return isUsers && String(other.content).startsWith(String(one.content));
}

/** Enough of a message to know it by. */
function told(message: unknown): string {
  return JSON.stringify(message ?? "nothing")
    .replaceAll(filler.slice(0, -1), "…")
    .slice(0, 2_000);
}

test("two hundred messages to a host that is killed again and again: each is answered once and covered once, nothing is lost, and prompts change at their end only", async () => {
  const group = counting.group("killed", counts);
  const { host } = group;
  const ids: string[] = [];

  const speak = async (count: number): Promise<void> => {
    for (let more = 0; more < count; more += 1) ids.push((await group.say(said(ids.length))).id);
  };

  for (let round = 0; round < 10; round += 1) {
    await speak(1);
    await host.end("SIGKILL");
    await host.boot();
    await group.replyTo(ids.at(-1) ?? "");
    // Those that come while it works are answered together.
    for (const count of [5, 5, 5, 4]) {
      await speak(count);
      for (const id of ids.slice(-count)) await group.replyTo(id);
    }
  }
  await group.ask("@crab what were the codes?");
  const shown = await show(group, true);

  const answers = Map.groupBy(
    (await group.replies()).flatMap(({ inReplyTo }) => inReplyTo),
    (id) => id,
  );
  expect(ids.map((id) => answers.get(id)?.length)).toEqual(ids.map(() => 1));
  expect(faultsOf(shown)).toEqual([]);
  expect(shown.summaries.length).toBeGreaterThan(0);
  expect(rewrittenIn(group.requests)).toEqual([]);
  const last = JSON.stringify(sent(group.requests.findLast((request) => !asksForSummary(request))));
  expect(ids.flatMap((_, index) => (last.includes(String(4_000 + index)) ? [] : [index]))).toEqual([]);
});

test("what waits when the host is killed while a model is asked comes behind what was asked", async () => {
  const held = Promise.withResolvers<void>();
  const group = counting.group("waited", async (request) => {
    if (request.lastText.includes("code is 4001")) await held.promise;
    return counts(request);
  });
  const { host } = group;
  await group.ask(said(0));
  const ids = [(await group.say(said(1))).id];
  await expect.poll(() => group.requests.length).toBe(2);
  for (const index of [2, 3, 4]) ids.push((await group.say(said(index))).id);

  await host.end("SIGKILL");
  held.resolve();
  await host.boot();
  for (const id of ids) await group.replyTo(id);

  expect(group.requests).toHaveLength(3);
  expect(rewrittenIn(group.requests)).toEqual([]);
  const last = JSON.stringify(sent(group.requests.at(-1)));
  expect([0, 1, 2, 3, 4].filter((index) => !last.includes(String(4_000 + index)))).toEqual([]);
});

test("killed at each point of a compaction, the host covers each entry once, and says once what came of it", async () => {
  const group = others.group("dying", sumsUp);
  for (let index = 0; index < 10; index += 1) await group.ask(saidAtLength(index));
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
    if (!(await group.host.dieAt(at, () => group.say("/compact", { id: asked })))) missed.push(at);
    await group.say("/compact", { id: asked });
    await expect.poll(async () => noticesFor(group, asked)).toHaveLength(1);
    expect(faultsOf(await show(group, true))).toEqual([]);
    for (let more = 0; more < 4; more += 1) await group.ask(saidAtLength(100 * index + 50 + more));
    expect(await noticesFor(group, asked)).toHaveLength(1);
  }

  expect(missed).toEqual([]);
});

test("whatever a model makes of a request for a summary, the conversation goes on and its prompts stay in the window", async () => {
  const answers = {
    empty: () => ({ text: "" }),
    "too-long": ({ messages }) => ({ text: messages.map(({ text }) => text).join("\n") }),
    "calls-a-tool": () => ({ toolCalls: [{ name: "shell", input: { command: "touch /workspace/group/stolen" } }] }),
    "not-at-all": () => ({ fault: "status", status: 500 }),
  } as const satisfies Record<string, ModelScript>;
  const names = Object.keys(answers) as (keyof typeof answers)[];
  const states: Record<string, string> = {};

  const talk = async (name: keyof typeof answers): Promise<void> => {
    const group = others.group(name, (request) =>
      asksForSummary(request) ? answers[name](request) : { text: "noted" },
    );
    for (let index = 0; index < 28; index += 1) states[name] = (await group.ask(saidAtLength(index))).text;
    const shown = await show(group, true);
    expect({ name, faults: faultsOf(shown) }).toEqual({ name, faults: [] });
    expect(shown.summaries.map(({ kind }) => kind)).toEqual(["eviction"]);
    expect(shown.tokens.total).toBeLessThanOrEqual(22_000);
  };
  await Promise.all(names.map(talk));

  expect(states).toEqual(Object.fromEntries(names.map((name) => [name, "noted"])));
});

/** Notices about this message. */
async function noticesFor(group: TestGroup, id: string): Promise<string[]> {
  const replies = await group.replies();
  return replies.flatMap(({ kind, inReplyTo, text }) => (kind === "notice" && inReplyTo.includes(id) ? [text] : []));
}

test("what a conversation takes is said in the chat, on the command line, over HTTP, and when no host runs", async () => {
  const group = others.group("shown", sumsUp);
  const { host } = group;
  const noticed = async (id: string): Promise<string> => (await noticesFor(group, id)).join("\n");
  const onCommandLine = async (): Promise<ContextView> =>
    JSON.parse((await host.cli("context", "show", "--group", "shown", "--json")).stdout) as ContextView;
  await group.say("/context", { id: "early" });
  await expect.poll(() => noticed("early")).toContain("tools: ");
  const expected = await show(group);
  await group.ask(said(1));
  await group.say("/context", { id: "look" });
  await group.say("/compact", { id: "shorten" });
  await expect.poll(() => noticed("shorten")).toContain("Nothing to summarize");

  expect(await noticed("look")).toMatch(/^This conversation takes about [\d,]+ of 24,000 tokens\.\nhow I work: /);
  const shown = await onCommandLine();
  const answer = await host.get("/v1/context/shown");
  const unknown = await host.get("/v1/context/nowhere");
  await host.end("SIGTERM");

  expect(shown).toMatchObject({ first: 1, last: 2, summaries: [], raw: { from: 1, to: 2 } });
  // Before anything was said to a model: what its first call would have.
  const { system, instructions, tools } = shown.tokens.bySection;
  expect(expected).toMatchObject({ last: 0, tokens: { bySection: { system, instructions, tools, messages: 0 } } });
  expect(await answer.json()).toEqual(shown);
  expect(unknown.status).toBe(404);
  expect(await onCommandLine()).toEqual(shown);
});
