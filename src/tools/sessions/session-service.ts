import type { Origin } from "../../domain/people/origin.ts";
import type { SessionKind } from "../../domain/turns/session.ts";

/** A session as another one may see it. */
export interface VisibleSession {
  readonly id: string;
  readonly group: string;
  readonly agent: string;
  readonly kind: SessionKind;
  /** Id of the session that it works for. */
  readonly parent: string | undefined;
  readonly isOwn: boolean;
}

/** Messages of a session, oldest first; `omitted`: number of earlier entries left out. */
export interface SessionHistory {
  readonly entries: readonly {
    readonly entry: number;
    readonly by: "people" | "agent" | "tools";
    readonly text: string;
  }[];
  readonly omitted: number;
  /** Everything that the session has read. */
  readonly origins: readonly Origin[];
}

/** A model's description of a session to begin. */
export interface WantedSession {
  readonly task: string;
  /** Agent id; the asker's own, or another group's first one, by default. */
  readonly agent?: string | undefined;
  readonly group?: string | undefined;
}

/**
 * The sessions that the turn's own may see, at one call of a tool. Each method throws ToolError for one that it may
 * not.
 */
export interface SessionService {
  list(): Promise<readonly VisibleSession[]>;
  history(
    session: string,
    window: { readonly limit: number; readonly before?: number | undefined },
  ): Promise<SessionHistory>;
  /**
   * Gives it something to do, once however often this is called. Its answer comes back to the turn's session as work.
   */
  send(session: string, text: string): Promise<void>;
  /** Begins a session with a task, once per call id, and returns its id. It is put aside after its answer. */
  begin(wanted: WantedSession): Promise<string>;
}
