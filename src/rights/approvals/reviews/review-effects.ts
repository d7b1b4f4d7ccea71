import type { Logger } from "pino";

import type { Approval, KeptChange } from "../../../domain/rights/approval.ts";
import { type ReviewedChange, reviewOf } from "../../../domain/rights/review.ts";
import type { Publish } from "../../../domain/events/event.ts";
import { errorCode, isPassing, toError } from "../../../lib/app-error.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { ReviewChange, ReviewLayer, ReviewLayers } from "../../../sandbox/review/review-layer.ts";
import type { Store } from "../../../stores/contract/store.ts";
import { noticesIn } from "../words.ts";
import { isSameChange, pathsOf } from "./review-changes.ts";
import { describeEffect, describeWaiting, type ReviewResult } from "./review-words.ts";

/** Looks at a folder that changes while it is decided about. */
const mostLooks = 5;
/** Changes that one record names; the digest is of all of them. */
const recordedChanges = 50;

export interface ReviewEffectsOptions {
  readonly store: Pick<Store["approvals"], "endReview" | "get" | "noteOutcome" | "undone">;
  readonly layers: Pick<ReviewLayers, "of">;
  /** Asks people anew about what could not be carried out. */
  readonly askAgain: (group: string) => Promise<void>;
  readonly publish: Publish<"review.begun" | "review.ended">;
  readonly deliver: () => void;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** Applies and discards what people decided about folders with review: each decision once, also over restarts. */
export class ReviewEffects {
  readonly #options: ReviewEffectsOptions;
  #atWork: Promise<"done" | "waits"> = Promise.resolve("done");
  #isWaiting = false;

  constructor(options: ReviewEffectsOptions) {
    this.#options = options;
  }

  /** Carries out what was decided. `waits`: an agent is at work in a folder, or it failed for now. Never rejects. */
  carryOut(): Promise<"done" | "waits"> {
    this.#atWork = this.#atWork.then(async () => {
      const outcome = await this.#carryOutNow();
      this.#isWaiting = outcome === "waits";
      return outcome;
    });
    return this.#atWork;
  }

  /** Something could not be carried out the last time. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  async #carryOutNow(): Promise<"done" | "waits"> {
    const { store, askAgain, logger } = this.#options;
    let outcome: "done" | "waits" = "done";
    const again = new Set<string>();
    try {
      for (const approval of await store.undone()) {
        const result = await this.#settle(approval);
        if (result === "waits") outcome = "waits";
        else if (result.kept.length > 0 || reviewOf(approval).isCut === true) again.add(approval.group);
      }
      for (const group of again) await askAgain(group);
    } catch (error) {
      logger.error({ err: toError(error) }, "what people decided about a folder could not be carried out; retrying");
      return "waits";
    }
    return outcome;
  }

  /** Carries out one decision. */
  async #settle(approval: Approval): Promise<ReviewResult | "waits"> {
    const { store, clock, deliver, logger } = this.#options;
    const { code, group } = approval;
    let result: ReviewResult | "waits";
    try {
      result = await this.#try(approval);
    } catch (error) {
      if (isPassing(error)) throw error;
      logger.error({ err: toError(error), group, code }, "what people decided about a folder could not be carried out");
      const reason = `could not be changed (${toError(error).message})`;
      result = { done: [], kept: reviewOf(approval).changes.map(({ path }) => ({ path, reason })) };
    }
    if (result === "waits") {
      if (approval.outcome !== undefined) return result;
      await store.noteOutcome(code, "waiting", noticesIn(approval, describeWaiting(approval)), clock.now());
      deliver();
      return result;
    }
    await this.#end(approval, result);
    return result;
  }

  async #end(approval: Approval, result: ReviewResult): Promise<void> {
    const { store, publish, clock, deliver } = this.#options;
    const { code, group, state, decider } = approval;
    const { done, kept } = result;
    const data = {
      code,
      target: reviewOf(approval).target,
      effect: effectOf(state),
      done: done.length,
      kept: kept.slice(0, recordedChanges),
    };
    await publish({ type: "review.ended", group, actor: decider?.actor ?? "host", data });
    const outcome = kept.length === 0 ? "written" : done.length === 0 ? "failed" : "changed";
    const said = noticesIn(approval, describeEffect(approval, result, await this.#restOf(code)));
    await store.endReview(code, { outcome, kept, said, at: clock.now() });
    deliver();
  }

  /** Returns what still waits on the card of which this was a part. */
  async #restOf(code: string): Promise<{ readonly code: string; readonly count: number } | undefined> {
    const [whole = "", part] = code.split("-");
    const rest = part === undefined ? undefined : await this.#options.store.get(whole);
    return rest?.state === "open" ? { code: whole, count: reviewOf(rest).changes.length } : undefined;
  }

  async #try(approval: Approval): Promise<ReviewResult | "waits"> {
    const { target, changes } = reviewOf(approval);
    const layer = (await this.#options.layers.of(approval.group)).find((one) => one.target === target);
    if (!layer) return { done: [], kept: changes.map(({ path }) => ({ path, reason: "is in no folder with review" })) };
    for (let look = 1; ; look += 1) {
      try {
        return await this.#decideIn(layer, approval);
      } catch (error) {
        if (errorCode(error) !== "conflict") throw error;
        // An agent is at work there.
        if (isPassing(error)) return "waits";
        if (look >= mostLooks) throw error;
      }
    }
  }

  /** Only what is still exactly what people were shown. */
  async #decideIn(layer: ReviewLayer, approval: Approval): Promise<ReviewResult> {
    const { state, outcome } = approval;
    const { changes } = reviewOf(approval);
    const now = await layer.diff();
    const { wanted, gone, changed } = compare(changes, now.changes);
    // What an earlier life of the host began is through: the layer finishes it by itself.
    const hasBegun = outcome === "writing" || state === "denied";
    // A folder is there since a part of what is new in it was applied.
    const missing = gone.filter(({ isFolder }) => !hasBegun && !isFolder);
    const kept = [
      ...changed.map(({ path }): KeptChange => ({ path, reason: "has changed since it was shown" })),
      ...missing.map(({ path }): KeptChange => ({ path, reason: "has been undone by the agent" })),
    ];
    const paths = pathsOf(wanted, now.changes);
    const done = gone.filter((one) => !missing.includes(one));
    if (paths.length > 0) {
      const record = (all: readonly ReviewChange[]) => this.#begin(approval, all);
      const decision = { paths, digest: now.digest, record };
      const left = state === "allowed" ? (await layer.apply(decision)).kept : [];
      if (state !== "allowed") await layer.discard(decision);
      const stays = new Set(left.map(({ path }) => path));
      kept.push(...left);
      done.push(...changes.filter(({ path }) => wanted.some((one) => one.path === path) && !stays.has(path)));
    } else if (wanted.length > 0) {
      // Folders in which something else is still undecided: they come with that.
      done.push(...changes.filter(({ path }) => wanted.some((one) => one.path === path)));
    }
    return { done, kept };
  }

  /** On record before the first file changes. */
  async #begin(approval: Approval, changes: readonly ReviewChange[]): Promise<void> {
    const { store, publish, clock } = this.#options;
    const { code, group, state, decider, change } = approval;
    const data = {
      code,
      target: reviewOf(approval).target,
      effect: effectOf(state),
      digest: change?.base ?? "",
      count: changes.length,
      changes: changes.slice(0, recordedChanges).map(({ path, kind, before, after }) => ({
        path,
        kind,
        before: before?.sha256,
        after: after?.sha256,
      })),
    };
    await publish({ type: "review.begun", group, actor: decider?.actor ?? "host", data });
    await store.noteOutcome(code, "writing", [], clock.now());
  }
}

function effectOf(state: Approval["state"]): "apply" | "discard" {
  return state === "allowed" ? "apply" : "discard";
}

function compare(
  shown: readonly ReviewedChange[],
  now: readonly ReviewChange[],
): {
  readonly wanted: readonly ReviewChange[];
  readonly gone: readonly ReviewedChange[];
  readonly changed: readonly ReviewedChange[];
} {
  const byPath = new Map(now.map((change) => [change.path, change]));
  const wanted: ReviewChange[] = [];
  const [gone, changed]: [ReviewedChange[], ReviewedChange[]] = [[], []];
  for (const change of shown) {
    const present = byPath.get(change.path);
    if (!present) gone.push(change);
    else if (isSameChange(change, present)) wanted.push(present);
    else changed.push(change);
  }
  return { wanted, gone, changed };
}
