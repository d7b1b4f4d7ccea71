import type { Group } from "../../domain/chats/group.ts";
import type { LimitHit } from "../../domain/turns/limit.ts";
import type { HotContainerView } from "../../domain/turns/session.ts";
import { Signal } from "../../lib/signal.ts";
import type { JobPayload } from "./hot-container.ts";
import type { ContainerRun, PoolOptions } from "./pool-options.ts";

/** Signals of what happens in containers between turns and beside them. Their listeners are awaited. */
export class ContainerSignals {
  /** An agent reports on a background job; `turn` is the one that its container works on. */
  readonly job = new Signal<{
    readonly run: ContainerRun;
    readonly payload: JobPayload;
    readonly turn: string | undefined;
  }>();
  /** A container is taken over, and its mailbox is not open yet. */
  readonly adopted = new Signal<ContainerRun>();
  readonly ended = new Signal<{ readonly run: ContainerRun; readonly reason: string }>();
  /** All containers of an earlier life of the host are taken over or removed. */
  readonly reconciled = new Signal();
}

/** Tells of a limit that a container has reached, on record and in its group's chat. */
export async function tellLimit(
  { publish, notify }: Pick<PoolOptions, "notify" | "publish">,
  { group, container, hit }: { readonly group: Group; readonly container: HotContainerView; readonly hit: LimitHit },
): Promise<void> {
  await publish({
    type: "limit.reached",
    ...ownerOfContainer(container),
    actor: "agent",
    data: { ...hit, unreported: 0 },
  });
  await notify(group, hit.text);
}

/** Returns the group and session of a container, for events. */
export function ownerOfContainer({ group, session }: HotContainerView): {
  readonly group: string;
  readonly session: string;
} {
  return { group, session };
}

/** Returns the names of a container's life, for events. */
export function lifeOf({ name, container, generation }: HotContainerView) {
  return { name, container, generation };
}
