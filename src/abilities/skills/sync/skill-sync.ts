import type { Logger } from "pino";

import type { Publish } from "../../../domain/events/event.ts";
import { toError } from "../../../lib/app-error.ts";
import { jittered } from "../../../lib/time/backoff.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { DueTimer } from "../../../lib/time/due-timer.ts";
import { shorten, visible } from "../../../lib/text/visible.ts";
import type { ComparedSkill, InstalledFrom } from "../install/installer.ts";
import { isPublished } from "../install/source.ts";
import { readSkillLock, type SkillLock } from "../install/lock-file.ts";
import { readSyncState, type SyncState, writeSyncState } from "./sync-state.ts";

export interface SkillSyncOptions {
  readonly lock: string;
  /** File with the next check's time and the last results. */
  readonly stateFile: string;
  /** True when sources may be checked and some group has skills. */
  readonly isOn: () => boolean;
  readonly compare: (installed: readonly InstalledFrom[], signal: AbortSignal) => Promise<readonly ComparedSkill[]>;
  /** True when this sync is recorded as an event. */
  readonly isOnRecord: (run: string) => Promise<boolean>;
  readonly publish: Publish<"skills.synced">;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
  /** Random number in 0..1. */
  readonly random?: (() => number) | undefined;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const weekMs = 7 * dayMs;
/** Jitter, so that hosts do not all ask at the same time. */
const jitter = { least: 0.9, most: 1.1 };
/** For all sources together. */
const longestMs = 10 * 60_000;
const reasonChars = 300;

/**
 * Asks the sources of installed skills once a week whether they have something else, and tells people once of each
 * version. It installs nothing. No timer runs while there is no skill whose source can change. When it asks next is
 * kept in a file: a restart neither brings it forward nor puts it off.
 */
export class SkillSync implements AsyncDisposable {
  readonly #options: SkillSyncOptions;
  readonly #lookout: DueTimer;
  readonly #stop = new AbortController();
  #next: number | undefined;

  constructor(options: SkillSyncOptions) {
    this.#options = options;
    this.#lookout = new DueTimer({
      look: () => this.#look(),
      onError: (error) => options.logger.warn({ err: toError(error) }, "sources of skills could not be asked"),
    });
  }

  /** Skills or settings may be others now. Resolves when what is due was done. */
  changed(): Promise<void> {
    this.#next = undefined;
    return this.#lookout.changed();
  }

  /** Skills of whose source people were told that it has another version, which is not installed yet. */
  async outdated(): Promise<readonly string[]> {
    const { last } = (await readSyncState(this.#options.stateFile)) ?? {};
    if (!last || last.outdated.length === 0) return [];
    return stillOutdated(last, await readSkillLock(this.#options.lock));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#lookout[Symbol.dispose]();
    await this.#lookout.idle();
  }

  async #look(): Promise<number | undefined> {
    const { clock, isOn } = this.#options;
    if (!isOn()) return undefined;
    const now = clock.now();
    if (this.#next !== undefined && this.#next > now) return this.#next - now;
    const installed = await this.#subscribed();
    if (installed.length === 0) return undefined;
    const state = await this.#announced(await readSyncState(this.#options.stateFile));
    const due = state === undefined ? undefined : Date.parse(state.next);
    // After a clock that was set back it does not wait for years.
    const isDue = due !== undefined && (due <= now || due > now + 2 * weekMs);
    if (isDue) this.#next = await this.#sync(installed, state);
    else this.#next = due ?? (await this.#begin(now));
    return this.#next === undefined ? undefined : Math.max(0, this.#next - clock.now());
  }

  /**
   * Skills from published sources, or subscribed. None while the lock file is unreadable, which is reported elsewhere.
   */
  async #subscribed(): Promise<readonly InstalledFrom[]> {
    const lock = await readSkillLock(this.#options.lock).catch((error: unknown) => {
      this.#options.logger.warn({ err: toError(error) }, "sources of skills are not asked");
      return undefined;
    });
    return Object.entries(lock?.skills ?? {}).flatMap(([name, { from, sha256, subscribed = isPublished(from) }]) =>
      subscribed ? [{ name, from, sha256 }] : [],
    );
  }

  /** The first time within a day: a host that is started often does not ask each time. */
  async #begin(now: number): Promise<number> {
    const next = now + jittered(dayMs, { least: 0, most: 1 }, this.#random());
    await writeSyncState(this.#options.stateFile, { version: 1, next: iso(next), isAnnounced: true });
    return next;
  }

  /** Gives when to ask next; undefined when it was stopped in the middle, and then it begins anew some day. */
  async #sync(installed: readonly InstalledFrom[], before: SyncState | undefined): Promise<number | undefined> {
    const { compare, clock, stateFile } = this.#options;
    const { signal } = this.#stop;
    // Should there be too little time for all, it is not always the same ones that are left out.
    const first = Math.floor(this.#random() * installed.length);
    const turned = [...installed.slice(first), ...installed.slice(0, first)];
    const compared = await compare(turned, AbortSignal.any([signal, AbortSignal.timeout(longestMs)]));
    if (signal.aborted) return undefined;
    const now = clock.now();
    const next = now + jittered(weekMs, jitter, this.#random());
    const last = { run: iso(now), ...findingsOf(compared, before?.last) };
    await this.#announced(await this.#keep(stateFile, { version: 1, next: iso(next), last, isAnnounced: false }));
    return next;
  }

  async #keep(file: string, state: SyncState): Promise<SyncState> {
    await writeSyncState(file, state);
    return state;
  }

  /** Tells what a sync has found, once, also when the host was killed just then. */
  async #announced(state: SyncState | undefined): Promise<SyncState | undefined> {
    const { publish, isOnRecord, stateFile } = this.#options;
    if (!state?.last || state.isAnnounced) return state;
    if (!(await isOnRecord(state.last.run))) await publish({ type: "skills.synced", actor: "host", data: state.last });
    return this.#keep(stateFile, { ...state, isAnnounced: true });
  }

  #random(): number {
    return (this.#options.random ?? Math.random)();
  }
}

type Findings = NonNullable<SyncState["last"]>;

function findingsOf(compared: readonly ComparedSkill[], before: Findings | undefined): Omit<Findings, "run"> {
  const sorted = compared.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const outdated = sorted.flatMap((one) =>
    one.state === "outdated" ? [{ name: one.name, sha256: one.now.sha256 }] : [],
  );
  const failed = sorted.flatMap((one) =>
    one.state === "failed" ? [{ name: one.name, reason: shorten(visible(one.error.message), reasonChars) }] : [],
  );
  // What is not known this time is not news when it is.
  const told = new Set(compared.filter(({ state }) => state !== "failed").map(({ name }) => name));
  const kept = (before?.outdated ?? []).filter(({ name }) => !told.has(name));
  const known = (name: string, sha256: string): boolean =>
    before?.outdated.some((one) => one.name === name && one.sha256 === sha256) === true;
  const news = outdated.filter(({ name, sha256 }) => !known(name, sha256)).map(({ name }) => name);
  return { asked: compared.length, outdated: [...outdated, ...kept], news, failed };
}

/** Those of them that are installed, and not in this version. */
export function stillOutdated({ outdated }: Pick<Findings, "outdated">, { skills }: SkillLock): string[] {
  const left = outdated.filter(({ name, sha256 }) => skills[name] !== undefined && skills[name].sha256 !== sha256);
  return left.map(({ name }) => name);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
