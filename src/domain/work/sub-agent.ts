import { inherit, type Lineage, withOrigins } from "../rights/lineage.ts";

/** The tool by which an agent makes one. */
export const spawnTool = "spawn_agent";

/**
 * `running` until its turn has ended: `done`, or `failed`. `expired`: its time was over; `cancelled`: somebody stopped
 * it, or what it worked for has ended. All but the first are final.
 */
export const subAgentStates = ["running", "done", "failed", "cancelled", "expired"] as const;

export type SubAgentState = (typeof subAgentStates)[number];

/** Parts of the parent's conversation that a sub-agent can be shown. */
export const subAgentContexts = ["none", "summary", "fork"] as const;

/** A sub-agent that is about to begin with the step that has its call. */
export interface NewSubAgent {
  /** Counts from 1 in a home; its id is `agent-<number>`. */
  readonly number: number;
  /** Key of the session that it gets. */
  readonly key: string;
  /** The call that made it: its id, and its place among those of its answer. */
  readonly call: string;
  readonly position: number;
  /** 1: of a group's own agent; 2: of a sub-agent; and so on. */
  readonly depth: number;
  /** The turn that made it does not wait for it. */
  readonly background: boolean;
  /** The parent's conversation from this step on goes before what it is told. */
  readonly forksFrom?: number | undefined;
  readonly task: string;
  /** All that it is told, with what goes with the task. */
  readonly text: string;
  /** Name of the profile that it works by. */
  readonly profile?: string | undefined;
  /** Route of models that was asked for, instead of that of its profile or of who it works for. */
  readonly route?: string | undefined;
  /** The only skills that it is to have; undefined: those of who it works for. */
  readonly skills?: readonly string[] | undefined;
  /** Lineage of the turn that made it. */
  readonly lineage: Lineage;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Maximum sub-agents running at once in the group; one more fails. */
  readonly atOnce: number;
}

/** Lineage of work for a sub-agent: of whoever tells it something, narrowed by its profile. */
export function lineageOfTask(told: Lineage, { profile }: Pick<NewSubAgent, "profile">): Lineage {
  const narrowed = profile === undefined ? told.narrowed : [...told.narrowed, profile];
  return inherit([withOrigins(told, ["agent"]), { ...told, narrowed }]);
}

/** An agent that works for another one, in a session and its own container, and hands its result back. */
export interface SubAgent extends Omit<NewSubAgent, "text" | "atOnce" | "key" | "lineage"> {
  readonly id: string;
  readonly group: string;
  /** Its session; undefined: it never began. */
  readonly session: string | undefined;
  /** The session, its conversation, the turn and the step that it works for. */
  readonly parent: string;
  readonly conversation: number;
  readonly turn: string;
  readonly step: number;
  readonly state: SubAgentState;
  /** Its answer, or the reason of its failure. */
  readonly text: string | undefined;
  /** Lineage of the turn that made it; at its end also with all that it has read and everybody who told it more. */
  readonly lineage: Lineage;
  /** Files that it has handed over, as its parent sees them. */
  readonly files: readonly string[];
  readonly endedAt: number | undefined;
  /** When its result was there for its parent. */
  readonly deliveredAt: number | undefined;
  /** When nothing was left of it but records. */
  readonly removedAt: number | undefined;
}

/** `agent-7` → 7; undefined for anything else. */
export function subAgentNumber(id: string): number | undefined {
  const [, digits] = /^agent-([1-9]\d{0,14})$/i.exec(id.trim()) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export function subAgentId(number: number): string {
  return `agent-${number}`;
}

/** Its parent's turn cannot go on before it has its result. */
export function isAwaited({ background, deliveredAt }: Pick<SubAgent, "background" | "deliveredAt">): boolean {
  return !background && deliveredAt === undefined;
}
