import type { Registry } from "prom-client";

import type { IntakeGuard } from "../../intake/limits/intake-guard.ts";
import { addGauges } from "../../records/metrics/metrics.ts";
import { removeUnreferenced } from "../../stores/blobs/remove-unreferenced.ts";
import { Retention } from "../../stores/retention.ts";
import { messagesPerStep } from "../../turns/steps/turn-intake.ts";
import type { Containers } from "../containers.ts";
import type { AppContext } from "../context.ts";
import type { Entrances } from "../chats/entrances.ts";
import type { WorkQueue } from "../turns/queue.ts";

/** Removes old rows from now on, and shows the state of the host as gauges. */
export function startUpkeep(
  context: AppContext,
  stack: AsyncDisposableStack,
  parts: {
    readonly registry: Registry;
    readonly guard: IntakeGuard;
    readonly containers: Containers;
    readonly work: WorkQueue;
    readonly entrances: Entrances;
  },
): void {
  stack.use(createRetention(context));
  addGauges(parts.registry, gaugeSources(context, parts));
}

/** Removes what is older than the settings keep. */
function createRetention(context: AppContext): Retention {
  const { config, clock, blobs: folder } = context;
  const removeBlobs = (signal: AbortSignal): Promise<number> =>
    removeUnreferenced({ folder, blobs: context.store.blobs, clock }, signal);
  return new Retention({
    ...context,
    get days() {
      return config.store.retentionDays;
    },
    get eventDays() {
      return config.events.retentionDays;
    },
    removeBlobs,
    keepNewest: messagesPerStep,
  });
}

function gaugeSources(
  { store }: AppContext,
  options: {
    readonly guard: IntakeGuard;
    readonly containers: Containers;
    readonly work: WorkQueue;
    readonly entrances: Entrances;
  },
): Parameters<typeof addGauges>[1] {
  const { guard, containers, work, entrances } = options;
  return {
    intakeOpen: () => guard.state().open,
    containersHot: () => containers.pool.list().length,
    groupsWaiting: () => work.queue.waitingGroups(),
    outbox: () => store.outbox.counts(),
    approvals: () => store.approvals.openCount(),
    jobs: () => containers.jobs.count(),
    channels: () => entrances.channels,
  };
}
