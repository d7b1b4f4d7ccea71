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

/** What was said in a session, oldest first; `omitted`: earlier entries that are not among them. */
export interface SessionHistory {
  readonly entries: readonly {
    readonly entry: number;
    readonly by: "people" | "agent" | "tools";
    readonly text: string;
  }[];
  readonly omitted: number;
}

/** What a model says of a session that it wants to begin. */
export interface WantedSession {
  readonly task: string;
  /** Left out: the asker's own agent, or another group's first one. */
  readonly agent?: string | undefined;
  readonly group?: string | undefined;
}

/**
 * The sessions that the turn's own may see, at one call of a tool. Each method throws ToolError for one that it may
 * not.
 */
export interface SessionDesk {
  list(): Promise<readonly VisibleSession[]>;
  /** From then on the turn has read what that session has read. */
  history(
    session: string,
    window: { readonly limit: number; readonly before?: number | undefined },
  ): Promise<SessionHistory>;
  /**
   * Gives it something to do, once however often this is called. Its answer comes back to the turn's session as work.
   */
  send(session: string, text: string): Promise<void>;
  /**
   * Begins one with something to do, once however often this is called, and returns its id. It is put aside when it has
   * answered.
   */
  begin(wanted: WantedSession): Promise<string>;
}
