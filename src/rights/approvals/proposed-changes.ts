import type { Logger } from "pino";

import type { Actor } from "../../domain/people/actor.ts";
import type { Approval, ChangeOutcome } from "../../domain/rights/approval.ts";
import { packageRequest } from "../../domain/sandbox/packages.ts";
import { skillProposal } from "../../domain/sandbox/skill.ts";
import { isPassing, toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import { describeOutcome, noticesIn } from "./words.ts";

/** A change that people have allowed, as it is to be written. */
export interface AllowedChange {
  readonly group: string;
  /** The session whose agent works by these instructions; undefined for what hangs on no turn. */
  readonly session: string | undefined;
  readonly about: Approval["about"];
  /** Names it where it is kept until it is in its place. */
  readonly code: string;
  readonly content: string;
  /** The tool that proposed it. Of another one than that for instructions, `content` is its whole input, as JSON. */
  readonly tool: string;
  /** SHA-256 of what it is a change of. */
  readonly base: string;
  readonly actor: Actor;
  /** When people allowed it. */
  readonly allowedAt: number;
  /** `begin` was called for it before, maybe in an earlier life of the host. */
  readonly isBegun: boolean;
  /** Called once nothing stands in its way, before anything is changed. */
  readonly begin: () => Promise<void>;
}

export interface ProposedChangesOptions {
  readonly store: Pick<Store["approvals"], "get" | "ofTurn" | "noteOutcome">;
  /**
   * Writes all of it, once, also when it is called again after a crash; `changed`: the file is not what it was a change
   * of.
   */
  readonly write: (change: AllowedChange) => Promise<"written" | "changed">;
  readonly deliver: () => void;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** Carries out changes of instructions and skills that people have allowed: each once, and as a whole. */
export class ProposedChanges {
  readonly #options: ProposedChangesOptions;
  /** By code. */
  readonly #atWork = new Map<string, Promise<ChangeOutcome>>();

  constructor(options: ProposedChangesOptions) {
    this.#options = options;
  }

  /** Sees that an allowed change is written if it can be. Rejects only for what may work later. */
  settle(code: string): Promise<ChangeOutcome> {
    const atWork = this.#atWork.get(code) ?? this.#settle(code).finally(() => this.#atWork.delete(code));
    this.#atWork.set(code, atWork);
    return atWork;
  }

  /** Outcome of the allowed change that this call proposed. */
  async outcomeOf(turn: string, call: string): Promise<ChangeOutcome> {
    const proposed = (await this.#options.store.ofTurn(turn)).filter((one) => one.change && one.call === call);
    const last = proposed.at(-1);
    return last?.state === "allowed" ? this.settle(last.code) : "failed";
  }

  async #settle(code: string): Promise<ChangeOutcome> {
    const { store, deliver, clock } = this.#options;
    const approval = await store.get(code);
    if (approval?.change === undefined || approval.state !== "allowed") return "failed";
    if (approval.outcome !== undefined && approval.outcome !== "writing") return approval.outcome;
    const outcome = await this.#write(approval, approval.change.base);
    const said = outcome === "written" ? [] : noticesIn(approval, describeOutcome(approval, outcome));
    await store.noteOutcome(code, outcome, said, clock.now());
    if (said.length > 0) deliver();
    return outcome;
  }

  async #write(approval: Approval, base: string): Promise<"written" | "changed" | "failed"> {
    const { store, write, clock, logger } = this.#options;
    const { code, group, session, decider, decidedAt, outcome } = approval;
    try {
      return await write({
        group,
        session,
        about: approval.about,
        code,
        tool: approval.tool,
        content: contentOf(approval),
        base,
        actor: decider?.actor ?? "host",
        allowedAt: decidedAt ?? 0,
        isBegun: outcome === "writing",
        begin: () => store.noteOutcome(code, "writing", [], clock.now()),
      });
    } catch (error) {
      if (isPassing(error)) throw error;
      logger.error({ err: toError(error), group, code }, "a change that people have allowed could not be written");
      return "failed";
    }
  }
}

/** The new text, exactly as it was shown. */
function contentOf({ code, input, tool, about }: Approval): string {
  if (about !== undefined || tool === skillProposal || tool === packageRequest) return input;
  const { content } = JSON.parse(input) as { readonly content?: unknown };
  if (typeof content !== "string") throw new Error(`The change ${code} has no content.`);
  return content;
}
