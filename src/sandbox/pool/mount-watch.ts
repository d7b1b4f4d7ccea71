import type { Logger } from "pino";

import type { MountSighting, SeenExecutionPoint, ShownPointChange } from "../../domain/sandbox/mount.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { unifiedDiff } from "../../lib/text/unified-diff.ts";
import { shorten } from "../../lib/text/visible.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import { executionPointKinds } from "../mounts/execution-points.ts";
import type { RunningContainer } from "./launch.ts";

/** Owner of the mounts in which something was found. */
export interface MountOwner {
  readonly group: string;
  readonly session: string;
}

/** A container as far as its mounts are concerned. */
export type MountedContainer = Pick<RunningContainer, "hasMounts" | "exited" | "lookIntoMounts">;

export interface MountWatchOptions {
  readonly publish: Publish<
    "setuid.removed" | "execution-point.changed" | "execution-points.counted" | "secrets.appeared" | "mount.refused"
  >;
  /** Keeps what was changed, by which turn if that is known, to be shown to people. */
  readonly keepExecutionPoints: (
    of: { readonly group: string; readonly turn: string | undefined },
    changes: readonly ShownPointChange[],
  ) => Promise<void>;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  readonly logger: Logger;
}

/** Maximum findings reported singly per look; the rest is counted, as an agent can make any number. */
const mostTold = 100;
/** Maximum names in the count. */
const mostNamed = 5;

/**
 * A look that took longer than this is not repeated before the next turn if it is not older than that; in milliseconds.
 */
const slow = { tookMs: 500, freshMs: 3_000 };

interface Watched {
  readonly owner: MountOwner;
  readonly container: MountedContainer;
  /** Ends the container, unless a turn uses it. */
  readonly end: (reason: string) => void;
  /** Reason why it is no longer usable. */
  refused: string | undefined;
  /** Whether a turn may be using it, and the last one that has. */
  inUse: boolean;
  turn: string | undefined;
  /** The last look that was asked for; looks at one container's mounts come one after another. */
  looking: Promise<void>;
  /** Start and duration of the last valid look; undefined when there is none. */
  last: { readonly at: number; readonly tookMs: number } | undefined;
  seen: MountSighting | undefined;
}

/**
 * Inspects the mounts of hot containers at start, after each turn, before reuse and at the end. Groups without mounts
 * cost nothing. A forbidden entry ends the container, so that the next one is judged again; danger for the host's user
 * is reported.
 */
export class MountWatch implements AsyncDisposable {
  readonly #options: MountWatchOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #turns = new Map<string, string>();
  readonly #pending: PendingWork;
  readonly #life = new AbortController();

  constructor(options: MountWatchOptions) {
    this.#options = options;
    this.#pending = new PendingWork((error) => options.logger.error({ error }, "could not inspect mounts"));
  }

  /** Starts watching a container until it ends; its mounts' present contents are the baseline. */
  begin(owner: MountOwner, container: MountedContainer, end: (reason: string) => void): void {
    if (!container.hasMounts) return;
    const fresh = {
      inUse: false,
      turn: undefined,
      refused: undefined,
      looking: Promise.resolve(),
      last: undefined,
      seen: undefined,
    };
    const watched: Watched = { owner, container, end, ...fresh };
    this.#watched.set(owner.session, watched);
    void this.#look(watched);
    void container.exited.then(() => this.#ended(watched));
  }

  /** Attributes later changes of the session's container to this turn. */
  turnBegins(session: string, turn: string): void {
    this.#turns.set(session, turn);
  }

  /** The session's container has done something: it is looked at soon. */
  released(session: string): void {
    const watched = this.#watched.get(session);
    if (!watched) return;
    watched.turn = this.#turns.get(session);
    watched.inUse = false;
    void this.#look(watched);
  }

  /** Returns why the session's container is unusable, by a look at most a moment old; undefined when usable. */
  async refusalOf(session: string): Promise<string | undefined> {
    const watched = this.#watched.get(session);
    if (!watched) return undefined;
    await watched.looking;
    const { last } = watched;
    const isFresh = last && last.tookMs > slow.tookMs && this.#options.now() - last.at < slow.freshMs;
    if (isFresh !== true) await this.#look(watched);
    watched.inUse = watched.refused === undefined;
    return watched.refused;
  }

  /** Waits for looks at what has ended; gives all others up. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pending.done();
    this.#life.abort(new Error("the host is stopping"));
    await Promise.all([...this.#watched.values()].map(({ looking }) => looking));
  }

  /** A last look, for what was done at the end. */
  #ended(watched: Watched): void {
    const { session } = watched.owner;
    if (this.#watched.get(session) === watched) this.#watched.delete(session);
    if (watched.inUse) watched.turn = this.#turns.get(session);
    this.#pending.add(this.#look(watched));
  }

  /** Never rejects. */
  #look(watched: Watched): Promise<void> {
    const { turn } = watched;
    watched.looking = watched.looking
      .then(() => this.#lookNow(watched, turn))
      .catch((error: unknown) => this.#failed(watched, error));
    return watched.looking;
  }

  async #lookNow(watched: Watched, turn: string | undefined): Promise<void> {
    const { owner, container } = watched;
    const { publish, now } = this.#options;
    if (this.#life.signal.aborted) return;
    const begun = now();
    const before = watched.seen;
    const seen = await container.lookIntoMounts(this.#life.signal);
    watched.seen = seen;
    watched.last = { at: begun, tookMs: now() - begun };
    const files = seen.setIdFiles;
    if (files.length > 0) {
      const data = { files: files.slice(0, mostTold), count: files.length };
      await publish({ type: "setuid.removed", ...owner, actor: "host", data });
    }
    if (before !== undefined) await this.#tellChanges({ owner, turn }, before, seen);
    if (watched.refused !== undefined) return;
    watched.refused = seen.refused ?? seen.outdated;
    if (seen.refused === undefined) {
      if (seen.outdated !== undefined) watched.end(seen.outdated);
      return;
    }
    await publish({ type: "mount.refused", ...owner, actor: "host", data: { refused: seen.refused } });
    watched.end(seen.refused);
  }

  async #tellChanges(
    { owner, turn }: Pick<Watched, "owner" | "turn">,
    before: MountSighting,
    seen: MountSighting,
  ): Promise<void> {
    const changes = compare(before.executionPoints, seen.executionPoints);
    if (changes.length > 0) await this.#tellExecutionPoints({ owner, turn }, changes);
    const known = new Set(before.secrets.map(nameOf));
    const appeared = seen.secrets.filter((file) => !known.has(nameOf(file)));
    if (appeared.length === 0) return;
    const data = { secrets: appeared.slice(0, mostTold), count: appeared.length };
    await this.#options.publish({ type: "secrets.appeared", ...owner, actor: "host", data });
  }

  /** `turn`: the last one that used the container; undefined when there was none since the host's start. */
  async #tellExecutionPoints(
    { owner, turn }: Pick<Watched, "owner" | "turn">,
    changes: readonly ShownPointChange[],
  ): Promise<void> {
    const { publish, keepExecutionPoints } = this.#options;
    const told = changes.slice(0, mostTold);
    const points = told.map(({ target, path, kind, change }) => ({ target, path, kind, change }));
    for (const point of points) {
      await publish({ type: "execution-point.changed", ...owner, turn, actor: "agent", data: point });
    }
    await keepExecutionPoints({ group: owner.group, turn }, told);
    const count = { count: changes.length, omitted: changes.length - told.length, first: points.slice(0, mostNamed) };
    await publish({ type: "execution-points.counted", ...owner, turn, actor: "agent", data: count });
  }

  /** Treats an unreadable mount as forbidden. */
  #failed(watched: Watched, error: unknown): void {
    // One that ended while it was started is nobody's anymore.
    if (this.#life.signal.aborted || (error instanceof AppError && error.code === "container_lost")) return;
    this.#options.logger.error({ error, group: watched.owner.group }, "could not inspect the mounts of a container");
    watched.refused ??= `its mounts could not be inspected: ${toError(error).message}`;
    watched.end(watched.refused);
  }
}

function nameOf({ target, path }: { readonly target: string; readonly path: string }): string {
  return `${target}/${path}`;
}

function compare(before: MountSighting["executionPoints"], now: MountSighting["executionPoints"]): ShownPointChange[] {
  const changes: ShownPointChange[] = [];
  for (const [key, point] of now) {
    const old = before.get(key);
    if (old?.state !== point.state) changes.push(changeOf(old, point));
  }
  for (const [key, point] of before) if (!now.has(key)) changes.push(changeOf(point, undefined));
  return changes.toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Longest diff that is kept, in characters. */
const mostDiffChars = 20_000;

function changeOf(old: SeenExecutionPoint | undefined, now: SeenExecutionPoint | undefined): ShownPointChange {
  const { target, path, kind } = (now ?? old) as SeenExecutionPoint;
  const change = old === undefined ? "added" : now === undefined ? "removed" : "changed";
  const { bytes, sha256 } = now?.content ?? {};
  return { target, path, kind, change, bytes, sha256, diff: diffOf(old, now) };
}

/** Undefined when one of two sides is not known as text. */
function diffOf(old: SeenExecutionPoint | undefined, now: SeenExecutionPoint | undefined): string | undefined {
  const [from, to] = [old, now].map((side) => (side === undefined ? "" : side.content?.text));
  return from === undefined || to === undefined ? undefined : shorten(unifiedDiff(from, to), mostDiffChars);
}

/** Puts those first that run by themselves, so that no number of other files hides them. */
function rankOf({ kind }: ShownPointChange): number {
  return executionPointKinds.indexOf(kind);
}
