import { createHash } from "node:crypto";

import { canonicalJson } from "../lib/canonical-json.ts";
import type { LimitHit } from "../domain/turns/limit.ts";
import type { ToolCall, ToolResult } from "../domain/turns/model.ts";
import { describeParts, partsOf } from "../domain/chats/part.ts";
import type { StepBody } from "../domain/turns/turn.ts";

/** Times in a row that the same calls may give the same results. */
const sameRounds = 5;
/** Pairs in a row: A, B, A, B … */
const alternatingPairs = 4;
/** Rounds in a row in which nothing new came out. */
const rowOfNothingNew = 12;

/** Duration in the shell's last line: results that differ only in it are equal. */
const elapsed = /^(\[[^\n]*?), \d+\.\d s/gm;

/** One model answer with calls, and what came of them. */
interface Round {
  readonly digest: string;
  readonly isNews: boolean;
}

/**
 * Watches whether a turn gets anywhere: counts the model's answers, and notices calls that go round in circles. It
 * knows what its steps say and nothing else, so that a turn that goes on after a restart is judged like one that was
 * never interrupted.
 */
export class TurnProgress {
  readonly #seen = new Set<string>();
  #rounds: Round[] = [];
  #answers = 0;
  #open: { readonly calls: readonly ToolCall[]; readonly denied: readonly ToolResult[] } | undefined;

  /** Takes the next step of the turn. */
  add(body: StepBody): void {
    if (body.kind === "tools") return this.#close(body.results);
    // Somebody has said something: the same calls may come out differently, or be what was asked for.
    if (body.kind === "user") return void (this.#rounds = []);
    this.#answers += 1;
    this.#open = { calls: body.answer.toolCalls, denied: body.denied };
    // Nothing was run, so no results follow.
    if (body.denied.length === body.answer.toolCalls.length) this.#close([]);
  }

  /**
   * The limit that keeps the model from being asked again, if there is one. `maxSteps`: answers of the model in one
   * turn; 0: any number.
   */
  limitHit(maxSteps: number): LimitHit | undefined {
    if (maxSteps > 0 && this.#answers >= maxSteps) return tooManySteps(this.#answers);
    const digests = this.#rounds.map(({ digest }) => digest);
    if (isSame(digests.slice(-sameRounds))) {
      return goesRound("repeats", sameRounds, `the same calls gave the same results ${sameRounds} times in a row`);
    }
    if (alternates(digests.slice(-2 * alternatingPairs))) {
      const text = `the same two calls took turns ${alternatingPairs} times, with the same results`;
      return goesRound("repeats", 2 * alternatingPairs, text);
    }
    const latest = this.#rounds.slice(-rowOfNothingNew);
    if (latest.length === rowOfNothingNew && !latest.some(({ isNews }) => isNews)) {
      return goesRound(
        "no-progress",
        rowOfNothingNew,
        `nothing new came out of the last ${rowOfNothingNew} rounds of calls`,
      );
    }
    return undefined;
  }

  #close(results: readonly ToolResult[]): void {
    if (!this.#open || this.#open.calls.length === 0) return;
    const { calls, denied } = this.#open;
    this.#open = undefined;
    const byCall = new Map([...denied, ...results].map((result) => [result.callId, result]));
    const outcomes = calls.map((call) => ({
      digest: digestOf(call, byCall.get(call.id)),
      result: byCall.get(call.id),
    }));
    const isNews = outcomes.some(({ digest, result }) => result?.isError === false && !this.#seen.has(digest));
    for (const { digest } of outcomes) this.#seen.add(digest);
    const round = { digest: outcomes.map(({ digest }) => digest).join(" "), isNews };
    this.#rounds = [...this.#rounds, round].slice(-rowOfNothingNew);
  }
}

function digestOf({ name, input }: ToolCall, result: ToolResult | undefined): string {
  const output = result && describeParts(partsOf(result)).replaceAll(elapsed, "$1");
  return createHash("sha256")
    .update(canonicalJson([name, input, result?.isError, output]))
    .digest("base64");
}

function isSame(digests: readonly string[]): boolean {
  return digests.length === sameRounds && new Set(digests).size === 1;
}

function alternates(digests: readonly string[]): boolean {
  return digests.length === 2 * alternatingPairs && digests.every((digest, index) => digest === digests[index % 2]);
}

function tooManySteps(answers: number): LimitHit {
  const times = answers === 1 ? "once" : `${answers} times`;
  const text = `The model was asked ${times}, the most allowed in one turn. Write again to continue from there.`;
  return { limit: "turn-steps", value: answers, text };
}

function goesRound(limit: LimitHit["limit"], value: number, what: string): LimitHit {
  return { limit, value, text: `It was going round in circles: ${what}.` };
}
