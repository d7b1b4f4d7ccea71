import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import type { Lineage } from "../../domain/rights/lineage.ts";
import type { ActingParty } from "../../domain/rights/may-act.ts";
import { agentsOf } from "../../domain/turns/session.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import type { TaskGroup } from "../../domain/work/task.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { timeZoneFault } from "../../lib/time/time-zone-fault.ts";
import { zoneClock } from "../../lib/time/zone-clock.ts";
import { lineageOfTurn } from "../../rights/people/lineage-of-turn.ts";
import { turnAsAsker } from "../../rights/people/asker.ts";
import type { JudgeHearing } from "../../rights/people/hearing.ts";
import { refusalToBegin } from "../../rights/people/may-begin.ts";
import type { RoleOf } from "../../rights/people/roles.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { AbilityService } from "../define-ability.ts";
import { Scheduler, type SchedulerOptions } from "./scheduler.ts";
import { TaskBook, type TaskBookOptions } from "./task-book.ts";

/** The parts of the host that tasks need. */
export interface TaskNeeds {
  readonly groups: { byName(name: string): Group | undefined; list(): readonly Group[] };
  readonly roleOf: RoleOf;
  readonly hearingOf: JudgeHearing;
  /** The zone of a group's clocks: an IANA name. */
  readonly timeZoneOf: (group: string) => string;
  readonly store: {
    readonly tasks: SchedulerOptions["tasks"] & TaskBookOptions["tasks"];
    readonly origins: Pick<Store["origins"], "lineage">;
  };
  readonly workAdded: () => void;
  readonly deliver: () => void;
  readonly tellOperator: (text: string) => void;
  readonly publish: SchedulerOptions["publish"] & TaskBookOptions["publish"];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tasks of all groups: what is scheduled, and what people and agents do with it. */
export class TaskService implements AbilityService {
  readonly book: TaskBook;
  readonly groups: TaskNeeds["groups"];
  readonly #needs: TaskNeeds;
  readonly #scheduler: Scheduler;

  constructor(needs: TaskNeeds) {
    const { groups, store, tellOperator } = needs;
    this.#needs = needs;
    this.groups = groups;
    const shared = { ...needs, tasks: store.tasks, groupNow: (group: TaskGroup) => groupNow(groups, group) };
    this.#scheduler = new Scheduler({
      ...shared,
      tellOperator,
      // Why a turn failed may say more than members are to know.
      wordsFor: ({ task, turn }) =>
        turn && groups.byName(task.group.name)?.main
          ? `${ownCommand(`turns show ${turn.id.slice(0, 8)}`)} says why.`
          : undefined,
    });
    this.book = new TaskBook({
      ...shared,
      timeZone: needs.timeZoneOf,
      zoneFault: timeZoneFault,
      changed: () => this.#scheduler.changed(),
    });
  }

  readonly now = (): number => this.#needs.clock.now();

  /** Finds out for whom a turn makes or changes tasks. */
  readonly lineageOf = (group: Group, turn: Turn): Promise<Lineage> =>
    lineageOfTurn({ origins: this.#needs.store.origins, roleOf: this.#needs.roleOf }, group, turn);

  /** A turn as somebody who asks. */
  readonly askerOf = (group: Group, turn: Turn): Promise<ActingParty> =>
    turnAsAsker({ origins: this.#needs.store.origins, roleOf: this.#needs.roleOf }, group, turn);

  /** Returns why nobody behind this lineage may set the group's agent to work; undefined: they may. */
  readonly refusalToBegin = (group: Group, lineage: Lineage): string | undefined =>
    refusalToBegin(this.#needs.hearingOf, group, lineage);

  begin(): void {
    this.#scheduler.start();
  }

  turnEnded({ id, cause }: Pick<Turn, "id" | "cause">): void {
    if (cause === "schedule") this.#scheduler.runEnded(id);
  }

  /** A time by the clocks of the group, with their zone. */
  showTime(time: number, group: string): string {
    const zone = this.#needs.timeZoneOf(group);
    return `${zoneClock(zone).at(time).slice(0, 16)} ${zone}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#scheduler[Symbol.asyncDispose]();
  }
}

/**
 * The group of a task as it is now, with the agent that is to do it; undefined when its chat is another's or none's.
 */
function groupNow(groups: TaskNeeds["groups"], { name, channel, chat, agent }: TaskGroup): TaskGroup | undefined {
  const group = groups.byName(name);
  if (group?.channel !== channel || group.chat !== chat) return undefined;
  const isThere = agent !== undefined && agentsOf(group).includes(agent);
  return { name, channel, chat, agent: isThere ? agent : group.agent };
}
