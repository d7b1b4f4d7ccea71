import { randomUUID } from "node:crypto";
import { join } from "node:path";

import type { Logger } from "pino";

import type { BudgetLimits, Group } from "../../domain/chats/group.ts";
import { heartbeatFile, type HeartbeatSettings, type NextHeartbeat } from "../../domain/work/heartbeat.ts";
import { sortOrigins } from "../../domain/people/origin.ts";
import type { SideSession } from "../../domain/turns/session.ts";
import type { NewWork } from "../../domain/work/work.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { DueTimer } from "../../lib/time/due-timer.ts";
import { type ZoneClock, zoneClock } from "../../lib/time/zone-clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { AbilityService } from "../define-ability.ts";
import { type Beat, nextBeat } from "./beat-times.ts";
import { hasBudget, isTalking } from "./may-look.ts";
import { readHeartbeatFile } from "./read-file.ts";
import { saysSomethingToDo } from "./something-to-do.ts";

/** The parts of the host that heartbeats need. */
export interface HeartbeatNeeds {
  readonly groups: { list(): readonly Group[] };
  /** Heartbeat settings of a group; undefined: none. */
  readonly heartbeatOf: (group: string) => HeartbeatSettings | undefined;
  /** The zone of a group's clocks: an IANA name. */
  readonly timeZoneOf: (group: string) => string;
  readonly totalBudget: () => Partial<BudgetLimits>;
  /** The folder that holds the folders of groups. */
  readonly groupsFolder: string;
  readonly store: Parameters<typeof isTalking>[0] & {
    readonly usage: Pick<Store["usage"], "ofDay">;
    readonly origins: Pick<Store["origins"], "ofFolder">;
    readonly work: Pick<Store["work"], "isKnown">;
  };
  readonly sideSessions: {
    /** Begins a new conversation. Rejects with `conflict` while a turn runs there. */
    renew(side: SideSession): Promise<unknown>;
    give(side: SideSession, work: Omit<NewWork, "group" | "session">): Promise<{ readonly duplicate: boolean }>;
  };
  readonly publish: Publish<"heartbeat.begun" | "heartbeat.skipped">;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

type Reason = "budget" | "file" | "busy" | "hours";

/** State of a group's heartbeat. */
interface Pulse {
  /** With which settings it was planned. */
  readonly plan: string;
  readonly zone: ZoneClock;
  /** Waits for its moment; the clock may be set back before it. */
  next: Beat;
  /** Its moment has come, and people talked; asked again from `retryAt` on. */
  pending: Beat | undefined;
  retryAt: number;
}

/** A beat that is later than this was missed, and is skipped. */
const lateMs = 2 * 60_000;
const retryMs = 60_000;
const failureRetryMs = 30_000;

const words = `This is what ${heartbeatFile} in the group's folder says. Nobody has asked just now: look at what is due, do it, and answer only with what the chat should know.`;

/**
 * Lets agents look by themselves at what their group's file says. One timer waits for the earliest beat of all, none
 * where no group has a heartbeat. A file that asks for nothing costs no more than being read. A beat is named by its
 * moment, so it has one effect however often the host is started; what was missed while it did not run is skipped.
 */
export class Heartbeats implements AbilityService {
  readonly #needs: HeartbeatNeeds;
  readonly #pulses = new Map<string, Pulse>();
  readonly #lookout: DueTimer;

  constructor(needs: HeartbeatNeeds) {
    this.#needs = needs;
    const onError = (error: unknown): void =>
      needs.logger.error({ err: toError(error) }, "could not look for heartbeats; retrying");
    this.#lookout = new DueTimer({ look: () => this.#look(), onError });
  }

  begin(): void {
    this.changed();
  }

  settingsChanged(): void {
    this.changed();
  }

  /** Settings or groups may have changed, or a beat is due. Never rejects. */
  changed(): void {
    void this.#lookout.changed();
  }

  /** The earliest heartbeat; undefined when there is none. */
  next(): NextHeartbeat | undefined {
    return [...this.#pulses.keys()]
      .map((group) => ({ group, at: this.nextOf(group) ?? Infinity }))
      .toSorted((one, other) => one.at - other.at)[0];
  }

  /** Time of the group's next heartbeat; undefined: none. */
  nextOf(group: string): number | undefined {
    const pulse = this.#pulses.get(group);
    return pulse && (pulse.pending ? pulse.retryAt : pulse.next.at);
  }

  /** Resolves when everything has been looked at. */
  idle(): Promise<void> {
    return this.#lookout.idle();
  }

  /** Waits for what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#lookout[Symbol.dispose]();
    await this.#lookout.idle();
  }

  /** Milliseconds until the next beat. */
  async #look(): Promise<number | undefined> {
    const { groups, heartbeatOf, clock } = this.#needs;
    const current = groups.list().flatMap((group) => {
      const settings = heartbeatOf(group.name);
      return settings ? [{ group, settings }] : [];
    });
    const names = new Set(current.map(({ group }) => group.name));
    for (const name of this.#pulses.keys()) if (!names.has(name)) this.#pulses.delete(name);
    for (const { group, settings } of current) {
      if (this.#lookout.isOver) return undefined;
      await this.#lookAt(group, this.#pulseOf(group, settings), settings);
    }
    const next = this.next();
    return next && next.at - clock.now();
  }

  #pulseOf({ name }: Group, settings: HeartbeatSettings): Pulse {
    const zone = this.#needs.timeZoneOf(name);
    const plan = JSON.stringify([settings, zone]);
    const known = this.#pulses.get(name);
    if (known?.plan === plan) return known;
    const clock = zoneClock(zone);
    const next = nextBeat(settings, clock, this.#needs.clock.now());
    const pulse = { plan, zone: clock, next, pending: undefined, retryAt: 0 };
    this.#pulses.set(name, pulse);
    return pulse;
  }

  async #lookAt(group: Group, pulse: Pulse, settings: HeartbeatSettings): Promise<void> {
    const { clock, logger } = this.#needs;
    const now = clock.now();
    this.#moveOn(pulse, settings, now);
    const { pending } = pulse;
    if (!pending || pulse.retryAt > now) return;
    try {
      await this.#tryBeat(group, pulse, pending);
    } catch (error) {
      logger.error({ err: toError(error), group: group.name }, "a heartbeat could not be begun; retrying");
      pulse.retryAt = now + failureRetryMs;
    }
  }

  /** Moves on: only the newest of several due beats counts, and no late one. */
  #moveOn(pulse: Pulse, settings: HeartbeatSettings, now: number): void {
    const { zone } = pulse;
    // Asked anew each time: the clock may have been set back, or forward over some of them.
    let beat = nextBeat(settings, zone, pulse.next.at > now ? now : Math.max(pulse.next.at - 1, now - lateMs));
    for (; beat.at <= now; beat = nextBeat(settings, zone, beat.at)) {
      pulse.pending = beat;
      pulse.retryAt = now;
    }
    pulse.next = beat;
  }

  async #tryBeat(group: Group, pulse: Pulse, beat: Beat): Promise<void> {
    const { clock, store, groupsFolder, totalBudget } = this.#needs;
    const now = clock.now();
    if (now > beat.until + lateMs) return this.#skip(group, pulse, "hours");
    const reading = await readHeartbeatFile(join(groupsFolder, group.name));
    if (!reading.ok && reading.reason !== "missing") return this.#skip(group, pulse, "file");
    const text = reading.ok ? new TextDecoder().decode(reading.bytes) : "";
    if (!saysSomethingToDo(text)) {
      pulse.pending = undefined;
      return;
    }
    if (await isTalking(store, group, now)) {
      pulse.retryAt = now + retryMs;
      return;
    }
    if (!(await hasBudget(store.usage, { group, total: totalBudget(), now })))
      return this.#skip(group, pulse, "budget");
    await this.#begin(group, pulse, { beat, text });
  }

  async #begin(
    group: Group,
    pulse: Pulse,
    { beat, text }: { readonly beat: Beat; readonly text: string },
  ): Promise<void> {
    const { sideSessions, store, publish, clock } = this.#needs;
    const dedupe = `heartbeat:${group.name}:${beat.at}`;
    const side = { group, kind: "heartbeat", id: "beat" } as const;
    // The clock was set back: the conversation of the first time is left alone.
    if (await store.work.isKnown(dedupe)) {
      pulse.pending = undefined;
      return;
    }
    try {
      await sideSessions.renew(side);
    } catch (error) {
      if (error instanceof AppError && error.code === "conflict") return this.#skip(group, pulse, "busy");
      throw error;
    }
    const origins = (await store.origins.ofFolder(group.name)).map(({ origin }) => origin);
    const id = randomUUID();
    await publish({ type: "heartbeat.begun", group: group.name, actor: "host", data: { work: id, due: beat.at } });
    await sideSessions.give(side, {
      id,
      cause: "heartbeat",
      dueAt: clock.now(),
      dedupe,
      replyTo: { kind: "chat", channel: group.channel, chat: group.chat },
      origin: "file",
      // Whoever could write into the folder could have written the file.
      lineage: {
        role: origins.includes("guest") ? "guest" : "member",
        origins: sortOrigins(["file", ...origins]),
        people: [],
        narrowed: [],
      },
      text: words,
      payload: text,
    });
    pulse.pending = undefined;
  }

  async #skip(group: Group, pulse: Pulse, reason: Reason): Promise<void> {
    const due = pulse.pending?.at ?? 0;
    pulse.pending = undefined;
    await this.#needs.publish({
      type: "heartbeat.skipped",
      group: group.name,
      actor: "host",
      data: { due, reason },
    });
  }
}
