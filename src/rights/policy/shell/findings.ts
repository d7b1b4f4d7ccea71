import { shorten, visible } from "../../../lib/text/visible.ts";
import type { ToolRisk } from "../../../protocol/tools.ts";

/** One command of a line, also one that another runs, such as the `rm` of `sudo rm x`. */
export interface JudgedCommand {
  /** Its name and arguments as bash will see them; undefined stands for a word that is known only when it runs. */
  readonly words: readonly (string | undefined)[];
}

/** Judgement of a command line before it runs. */
export interface CommandJudgement {
  /** That of its riskiest piece. `low` only when all of it is parsed. */
  readonly risk: ToolRisk;
  /**
   * `partly`: some words are known only when it runs, or hold another language. `not`: no statement about any piece can
   * be made.
   */
  readonly parsed: "whole" | "partly" | "not";
  /** Reasons for a risk above low, worst first: each names the piece, on one line without hidden characters. */
  readonly reasons: readonly string[];
  /** In the order of the line. At most 200. */
  readonly commands: readonly JudgedCommand[];
}

const maxReasons = 8;
const maxCommands = 200;
const maxPieceChars = 80;

/** Gathers what a walk over a line finds. */
export class Findings {
  readonly #reasons: Record<"medium" | "high", Set<string>> = { medium: new Set(), high: new Set() };
  readonly #commands: JudgedCommand[] = [];
  #parsed: CommandJudgement["parsed"] = "whole";

  /**
   * `piece` is quoted from the line, `does` goes on from there: "`rm x`" "removes files". A low piece needs no reason.
   */
  add(risk: ToolRisk, piece: string, does: string): void {
    if (risk === "low") return;
    this.#reasons[risk].add(`\`${visible(shorten(piece, maxPieceChars))}\` ${does}`);
  }

  /** A piece whose words are not all known, which is at least medium. */
  addUnknown(piece: string, does: string): void {
    this.add("medium", piece, does);
    if (this.#parsed === "whole") this.#parsed = "partly";
  }

  /** Gives up on the line. */
  refuse(reason: string): void {
    this.#reasons.high.add(reason);
    this.#parsed = "not";
  }

  addCommand(command: JudgedCommand): void {
    if (this.#commands.length < maxCommands) this.#commands.push(command);
  }

  judgement(): CommandJudgement {
    const { medium, high } = this.#reasons;
    return {
      risk: high.size > 0 ? "high" : medium.size > 0 ? "medium" : "low",
      parsed: this.#parsed,
      reasons: [...high, ...medium].slice(0, maxReasons),
      commands: this.#commands,
    };
  }
}
