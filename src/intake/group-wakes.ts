import type { Group } from "../domain/chats/group.ts";
import { Timers } from "../lib/time/timers.ts";
import type { GroupRegistry } from "./chats/group-registry.ts";
import type { IntakeGuard } from "./limits/intake-guard.ts";

/** Time before a command that could not be carried out is retried. */
const commandRetryMs = 2_000;
/** A platform delivers its backlog all at once: it gets one notice, after this time without another message. */
const backlogMs = 2_000;

interface GroupWakesOptions {
  readonly groups: Pick<GroupRegistry, "byName">;
  readonly guard: Pick<IntakeGuard, "failed">;
  /** Runs the sessions that answer the group's chat. */
  readonly queue: { wakeGroup(group: Group): void };
  /** Notes that something has reached the group too long after it was sent. */
  readonly catchUp: { cameLate(group: string): void };
  /** Carries out the group's commands. Rejects when the machine is in trouble. */
  readonly commands: { runNew(group: Group): Promise<void> };
}

/** Has groups looked at when something has come in for them. */
export class GroupWakes implements Disposable {
  readonly #options: GroupWakesOptions;
  readonly #timers = new Timers();
  readonly #late = new Map<string, Disposable>();

  constructor(options: GroupWakesOptions) {
    this.#options = options;
  }

  /** Wakes these agents of the group, or all. Late messages wait until no more have come for a while. */
  wake(group: string, isLate: boolean, agents?: readonly string[]): void {
    this.#late.get(group)?.[Symbol.dispose]();
    if (!isLate) return this.#wakeNow(group, agents);
    this.#options.catchUp.cameLate(group);
    this.#late.set(
      group,
      this.#timers.after(backlogMs, () => this.#wakeNow(group)),
    );
  }

  /**
   * Runs the commands of the group at once. Those that cannot be carried out now are retried, at the latest before the
   * group's next turn and at the next start. Never rejects.
   */
  async runCommands(group: Group): Promise<void> {
    const { guard, queue, commands } = this.#options;
    try {
      await commands.runNew(group);
    } catch (error) {
      guard.failed(error);
      this.#timers.after(commandRetryMs, () => void commands.runNew(group).catch(() => queue.wakeGroup(group)));
    }
  }

  [Symbol.dispose](): void {
    this.#timers[Symbol.dispose]();
  }

  #wakeNow(name: string, agents?: readonly string[]): void {
    this.#late.delete(name);
    const group = this.#options.groups.byName(name);
    if (group) this.#options.queue.wakeGroup(agents ? { ...group, agents } : group);
  }
}
