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

/** A line as patterns of rules see it. */
export interface ParsedLine {
  /** All of it is one simple command of literal words, without a redirection that writes or reads a file. */
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
/** Nodes of the parsed line. */
const maxNodes = 200;
/** Names of paths that are compared, options and words that are looked up. Lines of people take some dozens. */
const maxWork = 4_000;

/** Gathers what is found in a line, and counts the work of it. */
export class Findings {
  readonly #reasons = new Map<Level, string>();
  readonly #commands = new Set<string>();
  #nodes = 0;
  #work = 0;

  /** `piece` is quoted from the line, `does` goes on from there: "`rm x`" "removes files". */
  add(level: Level, piece: string, does: string): void {
    if (!this.#reasons.has(level)) this.#reasons.set(level, `\`${visible(shorten(piece, maxPieceChars))}\` ${does}`);
  }

  addCommand(...spellings: readonly string[]): void {
    for (const spelling of spellings) this.#commands.add(spelling);
  }

  /** Throws Refused for a line that has too many. */
  countNode(): void {
    this.#nodes += 1;
    if (this.#nodes > maxNodes) throw new Refused(`It has more than ${maxNodes} parts.`);
  }

  /** Is told before. Throws Refused when it would be too much for one line. */
  work(amount = 1): void {
    if (this.#work + amount > maxWork) throw new Refused("It takes too much work to judge.");
    this.#work += amount;
  }

  /** Nodes and work so far, which the time is proportional to. */
  get effort(): number {
    return this.#nodes + this.#work;
  }

  judgement(stakes: Stakes, isOneCommand: boolean): CommandJudgement {
    const [high, open, medium] = [this.#reasons.get("high"), this.#reasons.get("open"), this.#reasons.get("medium")];
    const stake = describeStakes(stakes);
    const line = { isOneCommand, commands: [...this.#commands] };
    if (high !== undefined) return { risk: "high", why: high, line };
    if (open !== undefined && stake !== undefined)
      return { risk: "high", why: `${open}, and the group has ${stake}`, line };
    if (open !== undefined || medium !== undefined) return { risk: "medium", why: open ?? medium, line };
    return { risk: "low", why: undefined, line };
  }
}

function describeStakes({ writableMount, egress, injectedSecrets }: Stakes): string | undefined {
  if (writableMount) return "a mount with access rw";
  if (egress) return "egress";
  return injectedSecrets ? "injected secrets" : undefined;
}
