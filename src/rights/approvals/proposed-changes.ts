import type { Logger } from "pino";

import { unknownLineage } from "../../domain/rights/lineage.ts";
import type { Approval, ChangeOutcome } from "../../domain/rights/approval.ts";
import { isPassing, toError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { ChangedDescriptions } from "./changed-descriptions.ts";
import type { ProposalsByTool } from "./proposals.ts";
import { describeOutcome, noticesIn } from "./words.ts";

export interface ProposedChangesOptions {
  readonly store: Pick<Store["approvals"], "get" | "ofTurn" | "noteOutcome">;
  readonly proposals: ProposalsByTool;
  /** Changes of what tools of MCP servers say of themselves. */
  readonly descriptions: Pick<ChangedDescriptions, "write">;
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
    const { store, proposals, descriptions, clock, logger } = this.#options;
    const { about, code, group, session, tool, decider, decidedAt, outcome, origins } = approval;
    try {
      const proposed = about === "description" ? descriptions : proposals.get(tool);
      if (!proposed) throw new Error(`Nothing writes what ${tool} proposes.`);
      return await proposed.write({
        group,
        session,
        about,
        code,
        tool,
        content: approval.input,
        base,
        origins: origins ?? unknownLineage.origins,
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
