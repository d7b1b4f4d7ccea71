import type { Actor } from "../domain/actor.ts";
import type { LimitHit } from "../domain/limit.ts";
import type { Clock } from "../lib/clock.ts";
import type { SessionLogs } from "../lib/session-log.ts";

/** A flood must not fill the audit log; the other limits are looked at once for each tool call or turn. */
const quietMs = 5_000;
const floods: ReadonlySet<LimitHit["limit"]> = new Set(["output-rate"]);

interface Place {
  readonly group: string;
  readonly session: string;
  readonly turn?: string | undefined;
}

export interface LimitReporterParts {
  readonly record: (
    record: Place & {
      readonly type: "limit-hit";
      readonly actor: Actor;
      readonly data: Readonly<Record<string, unknown>>;
    },
  ) => Promise<void>;
  readonly logs: SessionLogs;
  readonly clock: Clock;
}

/**
 * Puts limits that were reached on record and into the session's log: at once the first time, then floods at most every five
 * seconds for each session, with the number of times in between.
 */
export class LimitReporter {
  readonly #parts: LimitReporterParts;
  readonly #last = new Map<string, { at: number; unreported: number }>();

  constructor(parts: LimitReporterParts) {
    this.#parts = parts;
  }

  /** False when it was only counted, because it was put on record a moment ago. */
  async report({ group, session, turn }: Place, { limit, value, text }: LimitHit): Promise<boolean> {
    const now = this.#parts.clock.monotonic();
    const key = `${session} ${limit}`;
    const last = this.#last.get(key);
    if (floods.has(limit) && last && now - last.at < quietMs) {
      last.unreported += 1;
      return false;
    }
    this.#last.set(key, { at: now, unreported: 0 });
    this.#parts.logs.of({ id: session, group }).write("host", "warn", text);
    const data = { limit, value, text, unreported: last?.unreported ?? 0 };
    await this.#parts.record({ type: "limit-hit", group, session, turn, actor: "agent", data });
    return true;
  }
}
