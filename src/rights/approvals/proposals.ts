import type { Group } from "../../domain/chats/group.ts";
import type { Actor } from "../../domain/people/actor.ts";
import type { Origin } from "../../domain/people/origin.ts";
import type { Approval, ProposedChange } from "../../domain/rights/approval.ts";

/** A change that people have allowed, as it is to be written. */
export interface AllowedChange {
  readonly group: string;
  /** The session whose agent works by these instructions; undefined for what hangs on no turn. */
  readonly session: string | undefined;
  readonly about: Approval["about"];
  /** Names it where it is kept until it is in its place. */
  readonly code: string;
  /** The whole input of the call that proposed it, as JSON, exactly as it was shown. */
  readonly content: string;
  /** The tool that proposed it. */
  readonly tool: string;
  /** SHA-256 of what it is a change of. */
  readonly base: string;
  /** Origins that the turn which proposed it had. */
  readonly origins: readonly Origin[];
  readonly actor: Actor;
  /** When people allowed it. */
  readonly allowedAt: number;
  /** `begin` was called for it before, maybe in an earlier life of the host. */
  readonly isBegun: boolean;
  /** Called once nothing stands in its way, before anything is changed. */
  readonly begin: () => Promise<void>;
}

/** Changes that calls of one tool propose: people are shown them first, and those that they allow are written. */
export interface Proposals {
  /** The change that a call with this input would make. */
  changeOf(group: Group, input: unknown): ProposedChange | Promise<ProposedChange>;
  /** Returns a fault for the model, so that people need not be asked; undefined: none. */
  faultOf(group: Group, input: unknown): string | undefined | Promise<string | undefined>;
  /**
   * Writes all of it, once, also when it is called again after a crash; `changed`: what it was a change of has changed.
   */
  write(change: AllowedChange): Promise<"written" | "changed">;
}

/** The proposals of each tool that makes some. */
export type ProposalsByTool = ReadonlyMap<string, Proposals>;
