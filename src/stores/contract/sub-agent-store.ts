import type { Lease } from "../../domain/turns/lease.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import type { NewSubAgent, SubAgent, SubAgentState } from "../../domain/work/sub-agent.ts";
import type { Turn } from "../../domain/turns/turn.ts";

/** A sub-agent of which something is left to be done, and what is to be known for that. */
export interface LiveSubAgent extends SubAgent {
  /** Key of its parent's session. */
  readonly parentKey: string;
  /** The turn that made it: how it stands. */
  readonly turnState: Turn["state"];
  /** Its parent has begun another conversation since, or was put aside. */
  readonly isForgotten: boolean;
  /** It has a turn that runs, or work that waits. */
  readonly hasWork: boolean;
}

/** Sub-agents as they are now. */
export interface SubAgentReader {
  get(id: string): Promise<SubAgent | undefined>;
  ofSession(session: string): Promise<SubAgent | undefined>;
  /** In the order of their calls. */
  ofStep(step: number): Promise<SubAgent[]>;
  /** Those that the turn waits for. */
  awaitedBy(turn: string): Promise<SubAgent[]>;
  /** Rows, newest first. */
  list(filter: {
    readonly group?: string | undefined;
    readonly parent?: string | undefined;
    readonly running?: boolean | undefined;
    readonly limit: number;
  }): Promise<SubAgent[]>;
  /** Those that have not ended, or whose result or remains have to be seen to, oldest first. */
  live(): Promise<LiveSubAgent[]>;
}

/**
 * Sub-agents. Each begins in the transaction of the step that has its call (`NewStep.spawns`) and ends in that of its
 * turn's end; then its result is handed over, and at last what it has left behind is removed.
 */
export interface SubAgentStore extends SubAgentReader {
  /** Next number, never reused. */
  nextNumber(): Promise<number>;
  /**
   * Begins those of a step that was stored before; those that have begun already are left as they are. Rejects like
   * `addStep`.
   */
  begin(step: number, spawns: readonly NewSubAgent[], lease?: Lease): Promise<void>;
  /**
   * Ends one that runs, with its turn and its work. Returns the turns that it ended; undefined, and no effect, when it
   * has ended before.
   */
  end(
    id: string,
    end: {
      readonly state: Exclude<SubAgentState, "running" | "done">;
      readonly reason: string;
      readonly at: number;
      /** Estimates what the last step of its turn adds to a prompt. */
      readonly estimateTokens: (text: string) => number;
    },
  ): Promise<Turn[] | undefined>;
  /**
   * Hands over the result of one that has ended: its parent's turn may go on, or (`background`) gets work. What it has
   * read stays with its files in the group's folder. False, and no effect, when that was done before.
   */
  deliver(
    id: string,
    result: { readonly files: readonly string[]; readonly text: string; readonly at: number },
  ): Promise<boolean>;
  /**
   * Notes that the other calls of a step are given to the agent now. False, and no effect, when that was done before.
   * Rejects like `addStep`.
   */
  release(step: number, at: number, lease?: Lease): Promise<boolean>;
  /** Says once in the life of the turn's sub-agents that it waits for them. */
  tellWaiting(turn: string, outgoing: readonly OutgoingDraft[], at: number): Promise<boolean>;
  /** Nothing is left of one but records: its session is put aside. */
  removed(id: string, at: number): Promise<void>;
  /**
   * Forgets at most `limit` of those of which nothing has been left since before then, with their sessions. Those stay
   * that a turn which runs has made, and those that have others below them or steps that are kept.
   */
  prune(before: number, limit: number): Promise<number>;
}
