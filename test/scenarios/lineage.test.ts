import { createHmac, randomUUID } from "node:crypto";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { MemoryFile } from "../../src/abilities/memory/file/memory-file.ts";
import { listSubAgents } from "../../src/abilities/sub-agents/operations.ts";
import { dayNotePrompt, toDayNote } from "../../src/abilities/memory/keeping/day-note.ts";
import { listTasks } from "../../src/abilities/tasks/operations.ts";
import { inherit, isNoWider, type Lineage, withOrigins } from "../../src/domain/rights/lineage.ts";
import { mainSessionKey, sideSessionKey } from "../../src/domain/turns/session.ts";
import { causes } from "../../src/domain/work/work.ts";
import { answerApproval, listApprovals } from "../../src/operations/approvals/operations.ts";
import { listFolderOrigins } from "../../src/operations/groups/operations.ts";
import { listSessions } from "../../src/operations/sessions/operations.ts";
import { listTurns } from "../../src/operations/turns/operations.ts";
import { usage } from "../../src/operations/usage/operations.ts";
import { addWork, listWork } from "../../src/operations/work/operations.ts";
import type { SaidItem } from "../../src/processes/memory-schemas.ts";
import { openStore } from "../../src/stores/catalog.ts";
import { sessionId } from "../../src/stores/contract/session-store.ts";
import { lineageOf } from "../support/lineages.ts";
import { groupOf, type ModelHost, startModelHost } from "../support/model-host.ts";
import type { ModelScript, ScriptedAnswer } from "../support/model-servers/model-server.ts";

const secret = "hook-secret-5b1f0c";
const read = "web";

/** People who ask, in a turn that has read a page: a guest, a member, or an admin while a member speaks along. */
const askers = {
  guest: withOrigins(lineageOf("guest", "http:eve"), [read]),
  member: withOrigins(lineageOf("member", "http:mia"), [read]),
  both: withOrigins(inherit([lineageOf("admin", "http:ada"), lineageOf("member", "http:mia")]), [read]),
} as const;
type Who = "guest" | "member";

/** Causes that are stored as work before the host runs. The others come to it from outside. */
const planned = ["schedule", "heartbeat", "job-ended", "approval", "agent"] as const;

interface Cause {
  readonly cause: (typeof causes)[number];
  readonly who: keyof typeof askers | "owner";
  readonly group: string;
  /** The least that everything which comes of it has to name, and the most rights that it may have. */
  readonly lineage: Lineage;
}

const table: readonly Cause[] = [
  ...planned.flatMap((cause) => each(cause, (who) => askers[who])),
  ...planned.map((cause) => ({ cause, who: "both", group: `${cause}-both`, lineage: askers.both }) as const),
  ...each("message", (who) => lineageOf(who, who === "guest" ? "http:eve" : "http:mia")),
  // A program is nobody's; its role is the operator's setting.
  ...each("webhook", (who) => ({ ...withOrigins(lineageOf(who), [read]), people: [] })),
  // Only the operator gives work by hand.
  { cause: "api", who: "owner", group: "api-owner", lineage: lineageOf("owner") },
];

function each(cause: Cause["cause"], of: (who: Who) => Lineage): Cause[] {
  return (["guest", "member"] as const).map((who) => ({ cause, who, group: `${cause}-${who}`, lineage: of(who) }));
}

/** A group that nothing is caused in, which is out of reach for all others. */
const elsewhere = "elsewhere";

const skill = "---\nname: tea\ndescription: Make tea. Use it for tea.\n---\nBoil water.\n";

/** All ways on, called in one answer of the turn that the cause makes. */
function waysOn(peer: string) {
  return [
    { name: "sessions_spawn", input: { task: "child" } },
    { name: "sessions_send", input: { session: peer, text: "child" } },
    { name: "sessions_send", input: { session: peerOf(elsewhere), text: "child" } },
    { name: "schedule_task", input: { prompt: "child", every: "1h", name: "child" } },
    { name: "spawn_agent", input: { task: "child", background: true } },
    { name: "memory_store", input: { text: "The gate opens at nine", category: "core" } },
    { name: "write_file", input: { path: "made.txt", content: "made" } },
    { name: "shell", input: { command: "true", background: true } },
  ];
}

/** Outputs of `sessions_list` in children, which policy denies to all but owners. */
const childCalls = new Map<string, string[]>();

/** Requests to the model, by group. */
const requests = new Map<string, number>();

/** Answers of a later session's agent, which reads the file that was made. */
const laterReads = new Map<string, string>();

function readLater(group: string, [content]: readonly string[]): ScriptedAnswer {
  if (content === undefined) return { toolCalls: [{ name: "read_file", input: { path: "made.txt" } }] };
  laterReads.set(group, content);
  return { text: "seen" };
}

/**
 * Goes all ways on, then proposes a skill, which people are asked about; a child makes a call that its role may not
 * make.
 */
const script: ModelScript = (request) => {
  const { messages, lastText } = request;
  const group = groupOf(request);
  requests.set(group, (requests.get(group) ?? 0) + 1);
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
  const asked = since[0]?.text ?? "";
  const peer = /go (\w+)/.exec(asked)?.[1];
  const outputs = since.filter(({ role }) => role === "tool").map(({ text }) => text);
  if (peer !== undefined) {
    const ways = waysOn(peer);
    if (outputs.length === 0) return { toolCalls: ways };
    if (outputs.length > ways.length) return { text: "the result" };
    const input = { name: "tea", files: [{ path: "SKILL.md", content: skill }] };
    return { toolCalls: [{ name: "propose_skill", input }] };
  }
  if (asked.includes("later file")) return readLater(group, outputs);
  if (!asked.includes("child")) return { text: "seen" };
  if (outputs.length === 0) return { toolCalls: [{ name: "sessions_list", input: {} }] };
  childCalls.set(group, [...(childCalls.get(group) ?? []), lastText]);
  return { text: "it is over" };
};

function chatOf(group: string) {
  return { channel: "http", chat: group };
}

/** Id of the session beside a group's main one that is written to. */
function peerOf(group: string): string {
  return sessionId(sideSessionKey(chatOf(group), { kind: "api", id: "peer" }));
}

let running: ModelHost;

beforeAll(async () => {
  running = await startModelHost(script, {
    groups: Object.fromEntries(
      [elsewhere, ...table.map(({ group }) => group)].map((group) => [group, { trigger: "always", skills: ["git"] }]),
    ),
    config: {
      people: {
        mia: { ids: ["http:mia"], role: "member" },
        ada: { ids: ["http:ada"], role: "admin" },
        own: { ids: ["http:own"], role: "owner" },
      },
      members: { default: "guest" },
      sessions: { visibility: "group", maxHot: 64 },
      memory: { enabled: true, embeddings: "none", recallTokens: 0, extract: { everyMessages: 0 } },
      agents: {},
      hooks: Object.fromEntries(
        table
          .filter(({ cause }) => cause === "webhook")
          .map(({ group, who }) => [group, { group, secret, role: who, prompt: `go ${peerOf(group)}` }]),
      ),
      policy: {
        rules: [
          { tool: "sessions_list", role: "<owner", action: "deny" },
          { tool: "*", action: "allow" },
        ],
      },
    },
    withoutContainers: "all",
    shellHere: true,
    prepared: true,
  });
  const { host } = running;
  await plan(join(host.home, "crabpot.sqlite"));
  await host.boot();
  for (const cause of table) await begin(cause);
}, 120_000);
afterAll(() => running[Symbol.asyncDispose]());

/** Stores what the host finds when it starts: the sessions, and the causes that are work. */
async function plan(path: string): Promise<void> {
  await using store = await openStore({ kind: "sqlite", path });
  await store.sessions.open(sideSessionKey(chatOf(elsewhere), { kind: "api", id: "peer" }), elsewhere, { kind: "api" });
  for (const { cause, group, lineage } of table) {
    const { id: session } = await store.sessions.open(mainSessionKey(chatOf(group)), group);
    await store.sessions.open(sideSessionKey(chatOf(group), { kind: "api", id: "peer" }), group, { kind: "api" });
    if (!isPlanned(cause)) continue;
    const id = randomUUID();
    const replyTo = { kind: "chat", ...chatOf(group) } as const;
    const text = `go ${peerOf(group)}`;
    await store.work.add({ id, group, session, cause, dueAt: 1, replyTo, origin: "file", lineage, text }, 1);
  }
}

function isPlanned(cause: string): cause is (typeof planned)[number] {
  return planned.some((one) => one === cause);
}

/** Causes what comes to a host that runs. */
async function begin({ cause, who, group }: Cause): Promise<void> {
  const { host } = running;
  const text = `go ${peerOf(group)}`;
  if (cause === "api") await host.control.call(addWork, { group, text, silent: false });
  if (cause === "message") {
    const id = who === "guest" ? "eve" : "mia";
    await host.say(group, text, { sender: { id, name: id } });
  }
  if (cause !== "webhook") return;
  const body = "{}";
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const headers = { "content-type": "application/json", "x-crabpot-signature": signature };
  await fetch(`${host.url}/v1/hooks/${group}`, { method: "POST", body, headers });
}

function laterSession(group: string): string {
  return sessionId(sideSessionKey(chatOf(group), { kind: "api", id: "later" }));
}

/** Has the operator read the file that was made, later and in another session. */
async function laterTurn(group: string) {
  const { control } = running.host;
  await control.call(addWork, { group, text: "later file", session: "later", silent: true });
  const found = async () =>
    (await control.call(listTurns, { group, limit: 100 })).find(
      ({ session, state }) => session === laterSession(group) && state === "done",
    );
  await expect.poll(found, { timeout: 120_000 }).toBeDefined();
  return found();
}

/** A new conversation's turn for the owner, who names the skill. */
async function laterConversation(group: string) {
  const { host } = running;
  const sender = { id: "own", name: "own" };
  await host.ask(group, "/new", { sender });
  await host.ask(group, "seen $tea?", { sender });
  const [newest] = await host.control.call(listTurns, { group, limit: 1 });
  return newest;
}

/** Turns of the cause and of what came of it. */
async function turnsOf(group: string) {
  const turns = await running.host.control.call(listTurns, { group, limit: 100 });
  return turns.filter(({ session, people }) => session !== laterSession(group) && !people.includes("http:own"));
}

/** All that has come of a cause, by the way on, with its lineage as far as it is stored. */
async function madeIn(group: string) {
  const { control, home } = running.host;
  const [card] = await control.call(listApprovals, { group });
  const work = await control.call(listWork, { group, limit: 100 });
  const tasks = await control.call(listTasks, { group });
  const agents = await control.call(listSubAgents, { group, all: true });
  using memory = MemoryFile.open(join(home, "memory", `${group}.sqlite`));
  const memories = memory.list({ limit: 10 }).filter(({ text }) => text.includes("gate"));
  const ofCause = (prefix: string) => work.filter(({ id }) => id.startsWith(prefix));
  return {
    card,
    work,
    tasks,
    agents,
    memories,
    sent: ofCause("sent:"),
    answers: ofCause("agent:"),
    jobs: ofCause("job:"),
  };
}

/** Words of the cause's agent, as a memory keeps what turns say. */
async function replyIn(group: string): Promise<SaidItem> {
  const turns = await turnsOf(group);
  const main = turns.find(({ session }) => session === sessionId(mainSessionKey(chatOf(group))));
  const { origins = [], people = [] } = main ?? {};
  const said = { id: "said-1", seq: 1, text: "the result", sender: "crab", time: 1, category: "conversation" };
  return { ...said, origin: "agent", origins: [...origins], people: [...people], sources: [] };
}

function countsIn({ sent, tasks, agents, jobs, memories, answers }: Awaited<ReturnType<typeof madeIn>>) {
  const counts = { sent, tasks, agents, jobs, memories, answers };
  return Object.fromEntries(Object.entries(counts).map(([way, { length }]) => [way, length]));
}

/** Ways to other sessions: closed for guests. */
function toOthers(who: Cause["who"]): number {
  return who === "guest" ? 0 : 2;
}

describe.for(table)("what comes of $cause ($who)", ({ cause, who, group, lineage }) => {
  test("waits, on a card, for whoever it is for, with what the turn has read", async () => {
    const { control } = running.host;
    await expect.poll(async () => (await control.call(listApprovals, { group })).length, { timeout: 60_000 }).toBe(1);
    const { card } = await madeIn(group);

    const [asking] = lineage.people;
    expect(card).toMatchObject({ asker: asking ?? (cause === "api" ? "operator" : cause) });
    expect(card?.origins).toEqual(expect.arrayContaining([...lineage.origins]));
  });

  test("comes with the file that it wrote to whoever reads in the folder later", async () => {
    const reading = await laterTurn(group);

    expect(laterReads.get(group)).toContain("made");
    expect(reading).toMatchObject({ role: "owner", people: [] });
    expect(reading?.origins).toEqual(expect.arrayContaining([...lineage.origins]));
  });

  test("is no wider than it on any way: sessions, answers, tasks, sub-agents, jobs, memories, files", async () => {
    const { control } = running.host;
    const others = toOthers(who);
    const { card } = await madeIn(group);
    await control.call(answerApproval, { code: card?.code ?? "", decision: "allow", scope: "once" });
    await expect
      .poll(
        async () => (await control.call(listWork, { group, limit: 100 })).filter(({ state }) => state !== "settled"),
        {
          timeout: 60_000,
        },
      )
      .toEqual([]);
    // Of each session that was written to, and of the sub-agent: its task and its result.
    await expect
      .poll(async () => countsIn(await madeIn(group)), { timeout: 60_000 })
      .toEqual({ sent: others, tasks: 1, agents: 1, jobs: 1, memories: 1, answers: others + 2 });
    const made = await madeIn(group);
    const turns = await turnsOf(group);
    const carried = await control.call(listFolderOrigins, { name: group });
    for (const child of [...made.sent, ...made.answers, ...made.tasks, ...made.agents, ...made.jobs, ...turns])
      expect(child).toSatisfy((one: Lineage) => isNoWider(one, lineage));
    for (const { origin, origins = [], people } of made.memories) {
      expect([origin, ...origins]).toEqual(expect.arrayContaining([...lineage.origins]));
      expect(people ?? []).toEqual(lineage.people);
    }
    expect(carried.map(({ origin }) => origin)).toEqual(expect.arrayContaining([...lineage.origins]));
  });

  test("comes with the note of the day on which it was said, with everybody behind it", async () => {
    const said = await replyIn(group);
    const asked: SaidItem = {
      ...said,
      id: "said-0",
      origin: "owner",
      origins: [],
      people: ["http:own"],
      sources: ["asked"],
    };
    const prompt = dayNotePrompt("2026-01-15", [said, asked], String);
    const note = toDayNote(JSON.stringify({ note: "The gate was opened.", sources: ["asked"] }), "2026-01-15", prompt);

    expect(note).toMatchObject({ people: expect.arrayContaining([...lineage.people]) as string[] });
    expect("origins" in note && note.origins).toEqual(expect.arrayContaining([...lineage.origins]));
  });

  // A group's containers have its secrets and mounts, whatever runs in them.
  test("may call what its role may, in sessions and on the budget of the same group, and no other", async () => {
    const { control } = running.host;
    const turns = await turnsOf(group);
    const sessions = await control.call(listSessions, {});
    const verdicts = childCalls.get(group) ?? [];

    // Those that were sent, and the sub-agent.
    expect(verdicts).toHaveLength(toOthers(who) + 1);
    for (const said of verdicts) expect(said.includes("does not allow")).toBe(who !== "owner");
    expect(new Set(turns.map((turn) => turn.group))).toEqual(new Set([group]));
    const used = sessions.filter((one) => turns.some(({ session }) => session === one.session));
    expect(new Set(used.map((session) => session.group))).toEqual(new Set([group]));
    const { costs } = await control.call(usage, { by: "group", group, since: "1d" });
    expect(costs).toMatchObject([{ name: group, calls: requests.get(group) }]);
    expect(await control.call(listWork, { group: elsewhere, limit: 9 })).toEqual([]);
  });

  test("comes with the skill that people let it write into later conversations", async () => {
    const shown = await laterConversation(group);

    expect(shown?.origins).toEqual(expect.arrayContaining(["agent", ...lineage.origins]));
  });
});

test("every cause is in the table; what forms hang on, and whose lineage they have, is tested with them", () => {
  expect(new Set(table.map(({ cause }) => cause))).toEqual(new Set(causes));
});

test("a summary of each conversation has read what was behind it", async () => {
  const { host } = running;
  await host.end("SIGTERM");
  await using store = await openStore({ kind: "sqlite", path: join(host.home, "crabpot.sqlite") });
  for (const { group, lineage } of table) {
    const session = await store.sessions.find(mainSessionKey(chatOf(group)));
    if (!session) throw new Error(`${group} has no session`);
    const { id, conversation, windowStart } = session;
    const steps = await store.turns.history(id, conversation, windowStart);
    const range = { fromStep: steps[0]?.seq ?? 0, toStep: steps.at(-1)?.seq ?? 0 };
    const words = { kind: "summary", text: "It was about a gate.", tokens: 9, model: "a/b", madeAt: 1 } as const;
    const made = await store.summaries.add({ session: id, conversation, ...words, ...range }, { windowStart });

    expect(made?.origins).toEqual(expect.arrayContaining([...lineage.origins]));
  }
});
