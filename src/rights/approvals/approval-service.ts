import type { Logger } from "pino";

import type { AnswerWay, Answered, Approval, ApprovalAnswer } from "../../domain/rights/approval.ts";
import type { FormValue } from "../../domain/rights/form.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { type Clock, clockSlackMs } from "../../lib/time/clock.ts";
import { DueTimer } from "../../lib/time/due-timer.ts";
import type { Store } from "../../stores/contract/store.ts";
import { formFault, pathFault } from "./answer-rules.ts";
import type { Forms } from "./forms/forms.ts";
import { describeDecision, describeOutcome, isSaidLater, noticesIn, scopeFault, whyCancelled } from "./words.ts";

/** Time after which a decision that waits for an agent is tried again, besides at the ends of turns. */
const reviewRetryMs = 10_000;

/** Besides the answer itself. */
export interface AnswerOptions {
  readonly way?: AnswerWay;
  /** Values of a form, as typed; only a form is allowed by them. */
  readonly values?: string | undefined;
}

export interface ApprovalServiceOptions {
  readonly store: Pick<Store["approvals"], "get" | "open" | "decide" | "expire" | "cancel" | "unrecorded" | "recorded">;
  /** The turn can go on. */
  readonly wake: (approval: Approval) => Promise<void>;
  /** Sees that a change which people have allowed is written. Rejects only for what may work later. */
  readonly carryOut: (code: string) => Promise<unknown>;
  /** Carries out what people decided about folders with review; `waits`: not all of it can be now. Never rejects. */
  readonly carryOutReviews: () => Promise<"done" | "waits">;
  /** The rule that denies the call now; undefined when none does. */
  readonly deniedBy: (approval: Approval) => Promise<string | undefined>;
  /** Forms of servers. */
  readonly forms: Pick<Forms, "read" | "fill" | "settled">;
  /** True when its subject has changed, so that answers have lost their meaning. */
  readonly isMoot: (approval: Approval) => Promise<boolean>;
  readonly deliver: () => void;
  readonly publish: Publish<"approval.answered" | "approval.decided">;
  readonly clock: Pick<Clock, "now">;
  /** For times that have to be over some day: must never go back. */
  readonly forwardClock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/**
 * Takes answers, expires unanswered approvals, records each end once and wakes its turn. One timer for all, none while
 * nothing is open.
 */
export class ApprovalService implements Disposable {
  readonly #options: ApprovalServiceOptions;
  readonly #timer: DueTimer;

  constructor(options: ApprovalServiceOptions) {
    this.#options = options;
    this.#timer = new DueTimer({
      look: () => this.#check(),
      onError: (error) => options.logger.error({ err: toError(error) }, "could not look for approvals; retrying"),
    });
  }

  /** Ends what is over and records new decisions now, for instance after an approval was asked for or answered. */
  checkNow(): void {
    void this.#timer.changed();
  }

  /**
   * Takes an answer that is not a command of a chat; the chat is told. AppErrors: `not_found` for an unknown code,
   * `conflict` for one that was answered before or whose turn has ended, `expired` for one whose time is over,
   * `bad_input` for values that do not fit.
   */
  async answer(
    answer: Omit<ApprovalAnswer, "at">,
    { way = "operator", values }: AnswerOptions = {},
  ): Promise<Approval> {
    await this.endIfOver(answer.code);
    const content = values === undefined ? undefined : await this.#read(answer, values);
    await this.#announceIfOpen(answer, { way, isFilled: content !== undefined });
    const at = this.#options.clock.now();
    await this.#refuseLonger(answer);
    const { outcome, approval } = await this.#options.store.decide({ ...answer, at }, (answered) => tell(answered));
    if (outcome === "settled") throw settledError(approval);
    if (content) this.#options.forms.fill(approval.code, content);
    this.#options.deliver();
    await this.#timer.changed();
    return approval.change ? this.#carriedOut(approval) : approval;
  }

  /** The approval after its change was carried out. Of a review, it says itself what was not. */
  async #carriedOut(approval: Approval): Promise<Approval> {
    const after = (await this.#options.store.get(approval.code)) ?? approval;
    const { about, outcome } = after;
    if (about !== "review" && (outcome === "changed" || outcome === "failed"))
      throw new AppError("conflict", describeOutcome(after, outcome));
    return after;
  }

  /** Reads the answer; undefined for an approval that is no longer open, which the store refuses. */
  async #read(
    { code, allow }: Omit<ApprovalAnswer, "at">,
    values: string,
  ): Promise<Record<string, FormValue> | undefined> {
    const { store, forms } = this.#options;
    if (!allow) throw new AppError("bad_input", "There are values only where something is allowed.");
    const asked = await store.get(code);
    if (asked?.state !== "open") return undefined;
    if (asked.about !== "form") throw new AppError("bad_input", `${code} asks for no values: allow or deny it.`);
    const filled = forms.read(code, values);
    if (!filled) throw new AppError("conflict", `${code} is no longer needed: the call that asked has ended.`);
    if ("fault" in filled) throw new AppError("bad_input", `Invalid answer: ${filled.fault}.`);
    return filled.content;
  }

  async #announceIfOpen(
    answer: Omit<ApprovalAnswer, "at">,
    { way, isFilled }: { readonly way: AnswerWay; readonly isFilled: boolean },
  ): Promise<void> {
    const asked = await this.#options.store.get(answer.code);
    if (asked?.state !== "open") return;
    const fault =
      answer.allow && !isFilled ? (formFault(asked) ?? pathFault(asked, answer.paths)) : pathFault(asked, answer.paths);
    if (fault !== undefined) throw new AppError("bad_input", fault);
    await this.announce(asked, answer, way);
  }

  /** Records an answer before it counts. */
  async announce(
    { code, call, tool, sha256, group, session, turn }: Approval,
    { allow, scope, by, paths }: Omit<ApprovalAnswer, "at">,
    way: AnswerWay,
  ): Promise<void> {
    const given = { way, allow, scope: allow ? scope : undefined, role: by.role, ...(paths && { paths }) };
    const data = { code, call, tool, sha256, ...given };
    await this.#options.publish({ type: "approval.answered", group, session, turn, actor: by.actor, data });
  }

  /**
   * Ends it if its time is over, which the store alone cannot know when the clock was set back, or if a rule denies it
   * by now.
   */
  async endIfOver(code: string): Promise<void> {
    const approval = await this.#options.store.get(code);
    if (approval?.state === "open") await this.#endIfOver(approval);
  }

  async #endIfOver(approval: Approval): Promise<"open" | "over"> {
    if (this.#leftMs(approval) <= 0) return this.#expire(approval);
    if (approval.about !== undefined && (await this.#options.isMoot(approval))) return this.#cancel(approval);
    const rule = await this.#options.deniedBy(approval);
    return rule === undefined ? "open" : this.#withdraw(approval, rule);
  }

  async #refuseLonger({ code, allow, scope }: Omit<ApprovalAnswer, "at">): Promise<void> {
    if (!allow || scope === "once") return;
    const approval = await this.#options.store.get(code);
    const fault = approval && scopeFault(approval, scope);
    if (fault !== undefined) throw new AppError("bad_input", fault);
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  /** Until the first of them is over. */
  async #check(): Promise<number | undefined> {
    const waiting: number[] = [];
    for (const approval of await this.#options.store.open())
      if ((await this.#endIfOver(approval)) === "open") waiting.push(this.#leftMs(approval));
    await this.#recordDecisions();
    if ((await this.#options.carryOutReviews()) === "waits") waiting.push(reviewRetryMs);
    return waiting.length > 0 ? Math.min(...waiting) : undefined;
  }

  async #recordDecisions(): Promise<void> {
    const { store, publish, wake, carryOut } = this.#options;
    for (const approval of await store.unrecorded()) {
      const { group, session, turn, code, tool, sha256, state, scope, reason, decider, call } = approval;
      const data = { code, call, tool, sha256, state, scope, role: decider?.role, hasReason: reason !== undefined };
      const actor = decider?.actor ?? "host";
      await publish({ type: "approval.decided", group, session, turn, actor, data });
      if (approval.change && approval.about !== "review" && state === "allowed") await carryOut(code);
      await store.recorded(code);
      if (approval.about === "form") this.#options.forms.settled(approval);
      if (approval.turn !== undefined) await wake(approval);
    }
  }

  async #expire(approval: Approval): Promise<"over"> {
    const { store, clock, deliver } = this.#options;
    const text = describeDecision({ ...approval, state: "expired" });
    if (await store.expire(approval.code, clock.now(), noticesIn(approval, text))) deliver();
    this.checkNow();
    return "over";
  }

  async #cancel(approval: Approval): Promise<"over"> {
    const { store, clock, deliver } = this.#options;
    const text = describeDecision({ ...approval, state: "cancelled" });
    if (await store.cancel(approval.code, clock.now(), noticesIn(approval, text))) deliver();
    this.checkNow();
    return "over";
  }

  /** In the operator's place: a rule of theirs decides what people were asked before there was one. */
  async #withdraw({ code }: Approval, rule: string): Promise<"over"> {
    const { store, clock, deliver } = this.#options;
    const by = { person: "host", actor: "host", name: "The policy", role: "owner" } as const;
    const reason = `${rule} denies it now`;
    const answer = { code, allow: false, scope: "once", reason, by, at: clock.now() } as const;
    const { outcome } = await store.decide(answer, (answered) => tell(answered));
    if (outcome === "denied") deliver();
    this.checkNow();
    return "over";
  }

  /**
   * Until its time is over, by a clock that is not set back. One that was asked in its future was asked by a clock that
   * was wrong.
   */
  #leftMs({ askedAt, expiresAt }: Approval): number {
    const now = this.#options.forwardClock.now();
    return askedAt > now + clockSlackMs ? 0 : expiresAt - now;
  }
}

function tell({ outcome, again, approval }: Answered) {
  const isSilent = outcome === "settled" || again === true || isSaidLater(approval);
  return isSilent ? [] : noticesIn(approval, describeDecision(approval));
}

/** Error for an answer without effect. */
export function settledError(approval: Approval): AppError {
  const { code, state, decider } = approval;
  if (state === "expired") return new AppError("expired", `The time to answer ${code} is over: it was denied.`);
  if (state === "cancelled") return new AppError("conflict", `${code} is no longer needed: ${whyCancelled(approval)}.`);
  if (state === "open") return new AppError("conflict", `None of these paths waits for a decision in ${code}.`);
  const by = decider === undefined ? "" : ` by ${decider.name}`;
  return new AppError("conflict", `${code} was already decided: ${state}${by}.`);
}
