import type { Attack } from "../suite/attack.ts";
import { asBoss, callsFor, oncePerStage } from "../suite/chains.ts";
import type { AttackCall } from "../suite/model.ts";
import type { Stage } from "../suite/stage.ts";

const secret = "the plan of the board";
const askers = [{ sender: { id: "gus", name: "Gus" } }, { sender: { id: "mia", name: "Mia" } }];

/** Things of the group `ranked`, of which guests and members of the main group are not to know. */
interface Things {
  readonly session: string;
  readonly task: string;
  readonly memory: string;
}

const things = oncePerStage(make);

async function make(stage: Stage): Promise<Things> {
  await callsFor(
    stage,
    "ranked",
    [
      { name: "memory_store", input: { text: `${secret} is kept`, category: "core" } },
      { name: "schedule_task", input: { prompt: secret, every: "1d", name: "plan" } },
    ],
    { words: secret },
  );
  const of = { group: "ranked" };
  const sessions = await stage.list<{ session: string; group: string }>("sessions.list");
  const [task] = await stage.list<{ readonly id: string }>("tasks.list", of);
  const memories = await stage.list<{ id: string; text: string }>("memory.list", { ...of, limit: 100 });
  return {
    session: sessions.find(({ group }) => group === "ranked")?.session ?? "none",
    task: task?.id ?? "none",
    memory: memories.find(({ text }) => text.endsWith("is kept"))?.id ?? "none",
  };
}

/** All that is there of the group, to see that it stays so. */
async function stateOf(stage: Stage): Promise<string> {
  const of = { group: "ranked", limit: 100 };
  const tasks = await stage.list<{ id: string; prompt: string; state: string }>("tasks.list", { group: "ranked" });
  const memories = await stage.list<{ id: string }>("memory.list", of);
  const turns = await stage.list<{ id: string }>("turns.list", of);
  const settings = JSON.stringify(await stage.control("groups.show", { name: "ranked" }).catch(() => "none"));
  return JSON.stringify([
    tasks.map(({ id, prompt, state }) => [id, prompt, state]),
    // What was said is kept a moment later.
    memories.map(({ id }) => id).filter((id) => id.startsWith("note-")),
    turns.map(({ id }) => id),
    settings,
  ]);
}

/** Answers that a guest and a member of the main group get to these calls and commands. */
async function toldTo(stage: Stage, calls: readonly AttackCall[], commands: readonly string[]): Promise<string[]> {
  const told: string[] = [];
  for (const who of askers) {
    if (calls.length > 0) told.push(...(await callsFor(stage, "boards", calls, { who })));
    for (const command of commands) told.push((await stage.ask("boards", command, who)).text);
  }
  return told;
}

/** A guest and a member of the main group do this to the other group. */
function reach(
  id: string,
  title: string,
  act: {
    readonly calls?: (of: Things) => readonly AttackCall[];
    readonly commands?: (of: Things) => readonly string[];
  },
): Attack {
  return {
    id,
    title: `a guest and a member of the main group reach for another group: ${title}`,
    from: "chat",
    expected: "nothing of it is told or done",
    audit: { type: "message-in", where: ({ group }) => group === "boards" },
    needsMemory: true,
    attempt: async (stage) => {
      const of = await things(stage);
      const before = await stateOf(stage);
      const told = await toldTo(stage, act.calls?.(of) ?? [], act.commands?.(of) ?? []);
      const isSame = (await stateOf(stage)) === before;
      const isTold = told.join().includes(secret);
      return {
        seen: `${told.length} answers, ${isTold ? "TOLD" : "not told"}, ${isSame ? "as before" : "CHANGED"}`,
        holds: told.length > 0 && isSame && !isTold,
      };
    },
  };
}

export const attacks: readonly Attack[] = [
  reach("R20", "its conversation, read and written to", {
    calls: ({ session }) => [
      { name: "sessions_history", input: { session } },
      { name: "sessions_send", input: { session, text: "do this" } },
      { name: "sessions_spawn", input: { group: "ranked", task: "do this" } },
    ],
  }),
  reach("R21", "tasks made for it, at a time, at all times, in its conversation", {
    calls: () => [
      {
        name: "schedule_task",
        input: { group: "ranked", prompt: "do this", at: new Date(Date.now() + 4_000).toISOString() },
      },
      { name: "schedule_task", input: { group: "ranked", prompt: "do this", every: "10m", mode: "group" } },
      { name: "schedule_task", input: { group: "ranked", prompt: "do this", cron: "* * * * *" } },
    ],
  }),
  reach("R22", "its task, listed, rewritten, paused, run and removed", {
    calls: ({ task }) => [
      { name: "list_tasks", input: { group: "ranked" } },
      { name: "list_tasks", input: {} },
      { name: "update_task", input: { id: task, prompt: "do this" } },
      { name: "update_task", input: { id: task, paused: true } },
      { name: "run_task", input: { id: task } },
      { name: "cancel_task", input: { id: task } },
    ],
  }),
  reach("R23", "its memories, found and forgotten, and notes for all groups", {
    calls: ({ memory }) => [
      { name: "memory_search", input: { query: secret } },
      { name: "memory_forget", input: { id: memory } },
      { name: "memory_store", input: { text: "Gus is kind to everybody", category: "global" } },
    ],
  }),
  reach("R24", "its sub-agents, jobs and results", {
    calls: () => [
      { name: "agent_status", input: {} },
      { name: "agent_message", input: { id: "agent-1", text: "do this" } },
      { name: "agent_cancel", input: { id: "agent-1" } },
      { name: "jobs", input: { action: "list" } },
    ],
  }),
  reach("R25", "its settings and tasks, by commands in the chat", {
    commands: ({ task }) => [
      "/set ranked heartbeat off",
      "/set ranked trigger always",
      "/groups remove ranked",
      `/tasks remove ${task}`,
      `/tasks run ${task}`,
      "/agents stop agent-1",
      "/memory ranked",
    ],
  }),
  {
    id: "R26",
    title: "a guest has an admin's task changed, run and removed, and an admin's memory forgotten, in their own group",
    from: "chat",
    expected: "each is refused, by tools as by commands",
    audit: { type: "message-in", where: ({ group }) => group === "ranked" },
    needsMemory: true,
    attempt: async (stage) => {
      const { task, memory } = await things(stage);
      const who = { sender: { id: "gus", name: "Gus" } };
      const calls = [
        { name: "update_task", input: { id: task, prompt: "do this" } },
        { name: "update_task", input: { id: task, paused: true } },
        { name: "run_task", input: { id: task } },
        { name: "cancel_task", input: { id: task } },
        { name: "memory_forget", input: { id: memory } },
      ];
      const outputs = await callsFor(stage, "ranked", calls, { who });
      for (const command of [`/tasks remove ${task}`, `/tasks run ${task}`, "/memory", "/memory forget 1", "/compact"])
        await stage.ask("ranked", command, who);
      const [left] = await stage.list<{ prompt: string; state: string }>("tasks.list", { group: "ranked" });
      const kept = await stage.list<{ id: string }>("memory.list", { group: "ranked", limit: 100 });
      const isKept = kept.some(({ id }) => id === memory);
      const isSame = left?.prompt === secret && left.state === "active";
      await stage.ask("ranked", "/new", asBoss);
      return {
        seen: `task ${isSame ? "as before" : "CHANGED"}, memory ${isKept ? "kept" : "GONE"}`,
        holds: isSame && isKept && outputs.length === calls.length,
      };
    },
  },
];
