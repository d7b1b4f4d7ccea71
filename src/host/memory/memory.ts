import { existsSync } from "node:fs";

import { agentNameOf, groupWithAgent } from "../../config/configured/agents.ts";
import { embedderSource } from "../../config/configured/memory.ts";
import { createMessageIds } from "../../turns/context/message-ids.ts";
import { workFolder } from "../../domain/chats/group.ts";
import { globalNotes } from "../../abilities/memory/item.ts";
import { memoryPath } from "../../abilities/memory/memory-path.ts";
import { modelFolder } from "../../abilities/memory/embedding/model-files.ts";
import { MemoryFaults } from "../../abilities/memory/keeping/faults.ts";
import { MemoryWriter } from "../../abilities/memory/keeping/memory-writer.ts";
import { Recall } from "../../abilities/memory/keeping/recall.ts";
import { type MemoryAt, MemoryClient } from "../../abilities/memory/thread/memory-client.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { ProviderSet } from "../../models/routes/provider-set.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { MemoryPort } from "../../tools/memory/memory-port.ts";
import type { RecallFunction } from "../../turns/steps/turn-intake.ts";
import type { TurnScope } from "../../turns/turn-scope.ts";
import type { AppContext } from "../context.ts";
import { createPort } from "./memory-port.ts";
import { createUpkeep } from "./memory-upkeep.ts";

/** Memories of groups, for turns. */
export interface Memories {
  /** Memory of this group or agent's folder; undefined when disabled. */
  readonly memoryOf: (folder: string) => MemoryAt | undefined;
  /** The same, whether groups remember things or not; undefined where there is no memory yet. */
  readonly existing: (folder: string) => MemoryAt | undefined;
  readonly recall: RecallFunction;
  /** A turn will ask for what fits this text: its vector is made meanwhile. */
  readonly foresee: (folder: string, text: string) => void;
  readonly port: (scope: TurnScope) => MemoryPort | undefined;
  /** Draws facts from what was said in the group so far, as far as that takes no longer than a while. Never rejects. */
  readonly extract: (group: Group, signal: AbortSignal) => Promise<void>;
  /** Takes in messages of the time without a listener. */
  readonly resume: () => void;
}

export interface MemoriesOptions {
  readonly groups: Pick<GroupRegistry, "list">;
  readonly providers: ProviderSet;
}

/** Made when `memory.enabled` is first set: see `memory-when-enabled.ts`. Nothing is asked while it is not. */
export function createMemories(context: AppContext, stack: AsyncDisposableStack, options: MemoriesOptions): Memories {
  const { live, store, events, logger, publish } = context;
  const clientNow = openClient(context, stack);
  const memoryOf = (group: string): MemoryAt | undefined =>
    live.current.memory.enabled ? memoryAt(context, clientNow(), group) : undefined;
  const always = (group: string): MemoryAt => memoryAt(context, clientNow(), group);
  const globalOf = createGlobalNotes(context, always);
  const idOf = createIds(context);
  const faults = new MemoryFaults({ publish, logger });
  const upkeep = createUpkeep(context, stack, { providers: options.providers, memoryOf: always });
  const keeper = stack.use(
    new MemoryWriter({
      store,
      groups: () => (live.current.memory.enabled ? options.groups.list() : []),
      memoryOf: always,
      withEachAgent: (group) =>
        group.agents ? group.agents.map((agent) => groupWithAgent(live.current, group, agent)) : [group],
      roleOf: context.roles.roleOf,
      agentNameOf: ({ agent }) => agentNameOf(live.current, agent),
      idOf,
      kept: upkeep.kept,
      faults,
      publish,
      logger,
    }),
  );
  events.subscribe("memory", ({ type, group }) => {
    const isHeard = type === "message.received" || type === "turn.ended";
    if (isHeard && group !== undefined && live.current.memory.enabled) keeper.said(group);
  });
  live.onChange(() => keeper.all());
  const recall = new Recall({
    turns: store.turns,
    memoryOf,
    globalOf,
    tokens: () => live.current.memory.recallTokens,
    idOf,
    faults,
    logger,
  });
  return {
    memoryOf,
    existing: (group) => (existsSync(memoryPath(context.home.paths.memory, group)) ? always(group) : undefined),
    // Each of several agents has its own memory, as it has a folder.
    recall: ({ group, session }, messages, at) =>
      recall.of({ group, memoryName: workFolder(group), session }, messages, at),
    foresee: (group, text) => recall.foresee(group, text),
    port: (scope) => {
      const memory = memoryOf(workFolder(scope.group));
      const ownNotes = scope.group.main ? () => always(globalNotes) : undefined;
      return memory && createPort(context, { memory, notes: () => globalOf(scope.group), ownNotes }, scope);
    },
    extract: async (group, signal) => {
      await keeper.keep(group.name);
      await upkeep.extract(group, signal);
    },
    resume: () => keeper.all(),
  };
}

/** The client that works with the settings of now; one that has others is closed when another one is needed. */
function openClient({ live, adapters, home, logger }: AppContext, stack: AsyncDisposableStack): () => MemoryClient {
  const onSlow = (slow: object): void => logger.warn(slow, "vectors of memories are compared more slowly");
  let current: { readonly settings: string; readonly client: MemoryClient } | undefined;
  return () => {
    const { memory } = live.current;
    const place = embedderSource(live.current, adapters, modelFolder(home.paths.root));
    const settings = JSON.stringify([place, memory.weights]);
    if (current?.settings === settings) return current.client;
    const last = current?.client;
    const client = stack.use(new MemoryClient({ place, weights: memory.weights, onSlow }));
    current = { settings, client };
    void last?.[Symbol.asyncDispose]();
    return client;
  };
}

function memoryAt({ home }: AppContext, client: MemoryClient, group: string): MemoryAt {
  return client.at(memoryPath(home.paths.memory, group));
}

function createIds({ fingerprint }: AppContext): (row: string) => string {
  const hidden = createMessageIds((text) => fingerprint(text));
  // Numbers of messages are called as the model knows them.
  return (row) => {
    const [kind, seq] = row.split(" ");
    return kind === "message" ? hidden(Number(seq)) : fingerprint(row).sha256.slice(0, 12);
  };
}

/** Global notes, for a group that may read them, where there are some. */
function createGlobalNotes(
  { live, home }: AppContext,
  memoryOf: (name: string) => MemoryAt,
): (group: Pick<Group, "name" | "main">) => MemoryAt | undefined {
  const path = memoryPath(home.paths.memory, globalNotes);
  return ({ name, main }) => {
    const { enabled, global } = live.current.memory;
    const mayRead = main || global.read === "all" || (Array.isArray(global.read) && global.read.includes(name));
    return enabled && mayRead && existsSync(path) ? memoryOf(globalNotes) : undefined;
  };
}
