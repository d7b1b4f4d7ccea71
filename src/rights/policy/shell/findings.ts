import type { Stakes } from "../../../domain/rights/stakes.ts";
import type { Risk } from "../../../domain/rights/policy.ts";
import { shorten, visible } from "../../../lib/text/visible.ts";

/** Judgement of a command line before it runs. */
export interface CommandJudgement {
  readonly risk: Risk;
  /** One line, without hidden characters, about the word or construct that decided; undefined of what is low. */
  readonly why: string | undefined;
  readonly line: ParsedLine;
}

/** A line as patterns of rules and grants see it. */
export interface ParsedLine {
  /** All of it is simple commands of literal words. */
  readonly isLiteral: boolean;
  /** It is one of those, without a redirection that writes or reads a file. */
  readonly isOneCommand: boolean;
  /** Each simple command in it, wherever it stands, as it is written and as bash will see it. */
  readonly commands: readonly string[];
}

/**
 * Certainty about a piece. `medium`: what it does is known, and changes something. `open`: what it does shows
 * only when it runs, so it counts as what the group has at stake.
 */
export type Level = "medium" | "open" | "high";

/** A line is given up on. The message ends in a period. */
export class Refused extends Error {}

const maxPieceChars = 80;
/** Names of paths that are compared, options and words that are looked up. Lines of people take some dozens. */
const maxWork = 4_000;

/** Gathers what is found in a line, and counts the work of it. */
export class Findings {
  readonly #reasons = new Map<Level, string>();
  readonly #commands = new Set<string>();
  #work = 0;

  /** `piece` is quoted from the line, `does` goes on from there: "`rm x`" "removes files". */
  add(level: Level, piece: string, does: string): void {
    if (!this.#reasons.has(level)) this.#reasons.set(level, `\`${visible(shorten(piece, maxPieceChars))}\` ${does}`);
  }

  addCommand(...spellings: readonly string[]): void {
    for (const spelling of spellings) this.#commands.add(spelling);
  }

  get commands(): readonly string[] {
    return [...this.#commands];
  }

  /** Is told before. Throws Refused when it would be too much for one line. */
  work(amount = 1): void {
    if (this.#work + amount > maxWork) throw new Refused("It takes too much work to judge.");
    this.#work += amount;
  }

  /** Work so far, which the time is proportional to. */
  get effort(): number {
    return this.#work;
  }

  /** The risk, and the reason for it. */
  verdict(stakes: Stakes): Pick<CommandJudgement, "risk" | "why"> {
    const [high, open, medium] = [this.#reasons.get("high"), this.#reasons.get("open"), this.#reasons.get("medium")];
    const stake = describeStakes(stakes);
    if (high !== undefined) return { risk: "high", why: high };
    if (open !== undefined && stake !== undefined) return { risk: "high", why: `${open}, and the group has ${stake}` };
    const why = open ?? medium;
    return { risk: why === undefined ? "low" : "medium", why };
  }
}

function describeStakes({ writableMount, egress, injectedSecrets }: Stakes): string | undefined {
  if (writableMount) return "a mount with access rw";
  if (egress) return "egress";
  return injectedSecrets ? "injected secrets" : undefined;
}
