import { join } from "node:path";

import { stringify } from "yaml";

import type { Channel } from "../../src/channels/channel.ts";
import type { NewTask } from "../../src/domain/work/task.ts";
import { openStore } from "../../src/stores/catalog.ts";
import type { Host } from "../../src/host/host.ts";
import { AgentsInProcess } from "./agents-in-process.ts";
import { newHome } from "./crabpot.ts";
import { startInProcess } from "./embedded-host.ts";
import { ofMember } from "./lineages.ts";

/** Many groups whose tasks are all due at the same moment. */
export interface CrowdOptions {
  readonly groups: number;
  readonly tasksPerGroup: number;
  readonly channel: Channel;
  readonly modelUrl: string;
  readonly config?: object;
}

export interface Crowd extends AsyncDisposable {
  readonly home: string;
  readonly agents: AgentsInProcess;
  /** Starts the host; the tasks have been due for a moment then. */
  start(): Promise<Host>;
}

/** The home of a crowd, with its tasks in the store. */
export async function gatherCrowd(options: CrowdOptions): Promise<Crowd> {
  await using stack = new AsyncDisposableStack();
  const { channel, modelUrl, tasksPerGroup } = options;
  const names = crowdNames(options.groups);
  const config = {
    channels: { [channel.name]: {} },
    models: {
      routes: { main: ["local/crowd"] },
      providers: { local: { kind: "openai", apiKey: "sk-none-needed-here", baseUrl: modelUrl } },
    },
    groups: Object.fromEntries(names.map((chat) => [chat, { channel: channel.name, chat, trigger: "always" }])),
    limits: { turnsPerHour: 0, loopTurns: 0 },
    ...options.config,
  };
  const { home } = stack.use(await newHome({ "config.yaml": stringify(config) }));
  const agents = new AgentsInProcess();
  const start = async (): Promise<Host> => {
    {
      await using store = await openStore({ kind: "sqlite", path: join(home, "crabpot.sqlite") });
      const at = Date.now();
      for (const name of names)
        for (let index = 0; index < tasksPerGroup; index += 1)
          await store.tasks.add(dueTask({ name, channel: channel.name, chat: name }, index, at), tasksPerGroup);
    }
    return startInProcess(home, { channel, agents });
  };
  const owned = stack.move();
  return { home, agents, start, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Names `group-0` … */
export function crowdNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `group-${index}`);
}

/** Does none of the tasks of this group ask in the group's own conversation? */
export function isSeparate(group: string): boolean {
  return group.endsWith("0");
}

/** Every other one asks in its group's own conversation. */
function dueTask(group: NewTask["group"], index: number, at: number): NewTask {
  return {
    id: `t-${group.name}-${index}`,
    group,
    name: `${index}`,
    prompt: `look ${group.name} ${index}`,
    timing: { kind: "every", everyMs: 86_400_000, since: at - 86_400_000 },
    timezone: "UTC",
    mode: index % 2 === 0 || isSeparate(group.name) ? "isolated" : "group",
    missed: "latest",
    origin: "member",
    lineage: ofMember,
    next: at,
    createdAt: at - 86_400_000,
  };
}
