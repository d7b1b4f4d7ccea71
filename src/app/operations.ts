import { groupDefaults } from "../config/groups.ts";
import type { Outbox } from "../delivery/outbox.ts";
import { createOperations } from "../gateway/control-operations.ts";
import type { EngineView, Operations } from "../gateway/operations.ts";
import { toError } from "../lib/app-error.ts";
import type { GroupQueue } from "../queue/group-queue.ts";
import type { GroupRegistry } from "../router/group-registry.ts";
import type { IntakeState } from "../channels/channel.ts";
import type { Containers } from "./containers.ts";
import type { AppContext } from "./context.ts";
import type { Doors } from "./doors.ts";
import type { Interventions } from "./interventions.ts";

const engineTimeoutMs = 5_000;

/** What the operator can ask for, made of the parts that do it. */
export function createHostOperations(
  context: AppContext,
  parts: {
    readonly groups: GroupRegistry;
    readonly containers: Containers;
    readonly doors: Doors;
    readonly queue: GroupQueue;
    readonly outbox: Outbox;
    readonly intake: () => IntakeState;
    readonly interventions: Pick<Interventions, "catchUp">;
  },
): Operations {
  const { config, home, store, clock, record, version } = context;
  const { groups, containers, doors, queue } = parts;
  return createOperations({
    host: {
      version,
      instance: home.instance,
      home: home.paths.root,
      pid: process.pid,
      startedAt: clock.now(),
      assistant: config.assistant.name,
      models: config.models.routes[config.models.default] ?? [],
      maxHot: config.sessions.maxHot,
    },
    store,
    groups: {
      list: () => groups.list(),
      add: async (group) => {
        const added = await groups.add(group);
        // A group of this name may have been here before and may have left something unanswered.
        await parts.interventions.catchUp(added);
        queue.wake(added.name);
        const data = { name: group.name, channel: group.channel, chat: group.chat };
        await record({ type: "group-added", group: group.name, actor: "operator", data });
        return added;
      },
      remove: async (name) => {
        const removed = await groups.remove(name);
        await record({ type: "group-removed", group: name, actor: "operator", data: {} });
        return removed;
      },
    },
    groupDefaults: groupDefaults(config),
    routes: Object.keys(config.models.routes),
    pool: containers.pool,
    outbox: parts.outbox,
    channels: doors.channels,
    engine: () => viewEngine(containers),
    waitingGroups: () => queue.snapshot().waiting.length,
    intake: parts.intake,
    requeue: async (turn) => {
      const count = await store.messages.requeue(turn.id);
      queue.wake(turn.group);
      return count;
    },
    clock,
  });
}

async function viewEngine({ engine }: Containers): Promise<EngineView> {
  try {
    const { kind, version, address } = await engine.facts(AbortSignal.timeout(engineTimeoutMs));
    return { ok: true, detail: `${kind} ${version} at ${address}` };
  } catch (error) {
    return { ok: false, detail: toError(error).message };
  }
}
