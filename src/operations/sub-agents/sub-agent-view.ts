import type { SubAgent } from "../../domain/sub-agent.ts";

/** A sub-agent: `parent` is the session that it works for, `session` its own. */
export interface SubAgentView extends Pick<
  SubAgent,
  | "id"
  | "group"
  | "session"
  | "parent"
  | "turn"
  | "task"
  | "state"
  | "profile"
  | "route"
  | "depth"
  | "background"
  | "requester"
> {
  readonly role: SubAgent["role"];
  /** What it answered, or why it did not. */
  readonly result: string | undefined;
  readonly files: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly endedAt: number | undefined;
}

/** What the operator does with sub-agents. */
export interface SubAgentOperations {
  /** Those at work, with `all` also those that have ended; newest first. */
  listSubAgents(filter: {
    readonly group?: string | undefined;
    readonly all: boolean;
  }): Promise<readonly SubAgentView[]>;
  showSubAgent(id: string): Promise<SubAgentView>;
  /** Rejects with `conflict` when it has ended before. */
  cancelSubAgent(id: string): Promise<SubAgentView>;
}
