import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { expect, vi } from "vitest";

import type { TestHost } from "./host.ts";
import { groupOf } from "./model-host.ts";
import type { ModelScript, ModelServerRequest, ScriptedReply } from "./model-servers/model-server.ts";
import { listSessions } from "../../src/operations/sessions/operations.ts";
import { listSubAgents, type SubAgentView } from "../../src/abilities/sub-agents/operations.ts";

export function isSubAgent({ system }: ModelServerRequest): boolean {
  return system.includes("You are a sub-agent of");
}

/** The answer that makes a sub-agent of each input. */
export function spawns(...inputs: readonly object[]): ScriptedReply {
  return { toolCalls: inputs.map((input) => ({ name: "spawn_agent", input: { task: "do it", ...input } })) };
}

export function calls(name: string, input: object): ScriptedReply {
  return { toolCalls: [{ name, input }] };
}

/** A model that is asked by two kinds of agents. */
export function family(parent: ModelScript, child: ModelScript): ModelScript {
  return (request) => (isSubAgent(request) ? child(request) : parent(request));
}

/** A parent that makes sub-agents of these inputs in one answer, and says what came of them. */
export function spawnsAll(...inputs: readonly object[]): ModelScript {
  return ({ toolOutputs }) =>
    toolOutputs.length === 0 ? spawns(...inputs) : { text: `so: ${toolOutputs.join("\n")}` };
}

/** Runs this once, then says what came of it. */
export function runsOnce(command: string): ModelScript {
  return ({ toolOutputs }) =>
    toolOutputs.length === 0 ? calls("shell", { command }) : { text: `child: ${toolOutputs.join(" ")}` };
}

/** Says in its scratch folder that it is at work, and goes on with this. */
export function begins(command: string): ModelScript {
  return (request) => runsOnce(`touch begun-${groupOf(request)}; ${command}`)(request);
}

/** At work until its group's folder has the file `go`. */
export const worksUntilGo = begins("until [ -e /workspace/group/go ]; do sleep 0.1; done; echo gone");

/** One script for each group, so that many families share a host. */
export function byGroup(scripts: ReadonlyMap<string, ModelScript>): ModelScript {
  return (request) => scripts.get(groupOf(request))?.(request) ?? { text: "There is nothing to do." };
}

/** Sub-agents of a group or all, newest first. */
export async function subAgentsOf(host: TestHost, group?: string): Promise<readonly SubAgentView[]> {
  return host.control.call(listSubAgents, { group, all: true });
}

/** Running containers that say that they are a sub-agent's, of a group or of all. */
export async function childContainers(host: TestHost, group?: string): Promise<{ id: string; socketPath: string }[]> {
  await using engine = await host.openEngine();
  const ofGroup = group === undefined ? {} : { "crabpot.group": group };
  const labels = { "crabpot.instance": await host.instance(), "crabpot.kind": "agent", ...ofGroup };
  const found = await engine.list(labels);
  const socketPath = (await engine.facts()).address.replace("unix://", "");
  return found.filter(({ running }) => running).map(({ id }) => ({ id, socketPath }));
}

/** Resolves when the command of `begins` runs in this many sub-agents of the group. */
export async function begun(host: TestHost, group: string, count = 1): Promise<void> {
  const begunThere = async () => {
    const found = await readdir(join(host.home, "sessions"), { recursive: true });
    return found.filter((name) => name.endsWith(`/scratch/begun-${group}`)).length;
  };
  // A folder may go while it is read.
  await vi.waitFor(async () => expect(await begunThere()).toBe(count), { timeout: 120_000, interval: 20 });
}

/** Resolves when nothing that a sub-agent has left lies about anymore: soon after, its end is complete. */
export async function cleared(host: TestHost): Promise<void> {
  const folders = async () => {
    const found = await readdir(join(host.home, "sessions"), { recursive: true });
    return found.filter((name) => name.endsWith("/scratch"));
  };
  await vi.waitFor(async () => expect(await folders()).toEqual([]), { timeout: 120_000, interval: 20 });
}

/** Remains of ended sub-agents besides records: containers, folders, files and sessions. */
export async function remainsOf(host: TestHost): Promise<string[]> {
  await using engine = await host.openEngine();
  const containers = await engine.list({ "crabpot.instance": await host.instance(), "crabpot.kind": "agent" });
  const own = new Set((await subAgentsOf(host)).map(({ session }) => session));
  const found = await readdir(join(host.home, "sessions"), { recursive: true });
  const files = found.filter((name) => own.has(name.split("/", 1)[0] ?? "") && !isLog(name));
  const sessions = (await host.control.call(listSessions, {})).filter(({ kind }) => kind === "agent");
  const temporary = await readdir(join(host.home, "incoming")).catch(() => []);
  return [
    ...containers.map(({ name }) => `container ${name}`),
    ...files,
    ...sessions.map(({ session }) => `session ${session}`),
    ...temporary.map((name) => `incoming/${name}`),
  ];
}

/** The session's folder, and its log. */
function isLog(name: string): boolean {
  return /^[^/]+(?:\/logs?(?:\/.*)?|\/[^/]+\.(?:log|jsonl)(?:\.gz)?)?$/.test(name);
}
