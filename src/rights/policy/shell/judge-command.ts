import { nothingAtStake, type Stakes } from "../../../domain/rights/stakes.ts";
import type { CommandJudgement } from "./findings.ts";
import { parseLine } from "./parse-line.ts";

/**
 * Judges the possible harm of a bash command line, by a closed grammar: `low` are only simple commands of literal words
 * that a table lists, with options that it lists. Nothing is followed through expansions and nested commands: they
 * count as what the group has at stake. The risk is advice for people and policy; the container is the wall. The
 * session's bash keeps variables, functions and its folder between calls, which no line shows. Takes at most some 10 ms
 * for any text, and never rejects.
 */
export async function judgeCommand(text: string, stakes: Stakes): Promise<CommandJudgement> {
  const nodes = await parseLine(text);
  if (typeof nodes === "string") return refused(nodes);
  // Loaded with the first line, not when the host starts.
  const { judgeLine } = await import("./judge-line.ts");
  const judged = judgeLine(nodes, stakes);
  return typeof judged === "string" ? refused(judged) : judged;
}

/**
 * True when each word of a bash command is what it says, and all of it is simple commands: no expansion, pattern or
 * compound command. So it does the same whenever it runs in a fresh shell, as far as its programs do.
 */
export async function isLiteralCommand(text: string): Promise<boolean> {
  return (await judgeCommand(text, nothingAtStake)).line.isLiteral;
}

function refused(why: string): CommandJudgement {
  return { risk: "high", why, line: { isLiteral: false, isOneCommand: false, commands: [] } };
}
