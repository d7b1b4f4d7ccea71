import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";

import { askEngine } from "./engine-api.ts";

interface Target {
  readonly socketPath: string;
  readonly id: string;
}

/** Troubles of a container. Each resolves when it has happened. */
export const containerTroubles = {
  killed: async ({ socketPath, id }) => void (await askEngine(socketPath, "POST", `/containers/${id}/kill`)),
  removed: async ({ socketPath, id }) => void (await askEngine(socketPath, "DELETE", `/containers/${id}?force=1`)),
  paused: async ({ socketPath, id }) => void (await askEngine(socketPath, "POST", `/containers/${id}/pause`)),
  /** The agent's process alone; what it has started goes on. */
  hung: async (target) => void process.kill(await agentPid(target), "SIGSTOP"),
  "out-of-memory": async (target) => takeMemory(target, await agentPid(target)),
} as const satisfies Record<string, (target: Target) => Promise<void>>;

export type ContainerTrouble = keyof typeof containerTroubles;

/** The agent's process, the child of the container's first one, as this machine numbers it, as soon as there is one. */
export async function agentPid(target: Target): Promise<number> {
  // The engine shows a container as running before its first process has started the agent.
  for (const end = performance.now() + 60_000; performance.now() < end;) {
    const child = await firstChild(target);
    if (child !== undefined) return child;
    await new Promise((next) => setTimeout(next, 10));
  }
  throw new Error(`container ${target.id} runs no agent`);
}

async function firstChild({ socketPath, id }: Target): Promise<number | undefined> {
  const inspection = JSON.parse(await askEngine(socketPath, "GET", `/containers/${id}/json`)) as {
    State: { Pid: number };
  };
  const { Pid } = inspection.State;
  const [child] = (await readFile(`/proc/${Pid}/task/${Pid}/children`, "utf8").catch(() => "")).split(" ");
  // 0 would be ourselves, and a container that does not run has that.
  return Pid > 1 && child !== undefined && child !== "" ? Number(child) : undefined;
}

/** A process among the container's that takes more memory than they may have; the kernel kills the agent for it. */
async function takeMemory({ id }: Target, pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, "1000");
  const cgroups = await readFile(`/proc/${pid}/cgroup`, "utf8");
  // A process that has just ended counts among those of the machine, whose memory is not to be taken.
  if (!cgroups.includes(id)) throw new Error(`No such container: ${id} has ended`);
  const own = /^\d+:memory:(.*)$/m.exec(cgroups)?.[1];
  const unified = /^0::(.*)$/m.exec(cgroups)?.[1];
  const folder = own === undefined ? `/sys/fs/cgroup${unified ?? ""}` : `/sys/fs/cgroup/memory${own}`;
  const greedy = "const taken = []; while (taken.length < 200) taken.push(Buffer.alloc(10_000_000, 1));";
  const script = 'echo $$ > "$1" && exec "$2" -e "$3"';
  const parameters = ["-c", script, "sh", `${folder}/cgroup.procs`, process.execPath, greedy];
  await once(spawn("sh", parameters, { stdio: "ignore" }), "exit");
}
