import type { Command, Function as FunctionNode, Redirect, SyntaxNode } from "unbash";

import type { Stakes } from "../../../domain/rights/stakes.ts";
import { Findings, Refused } from "./findings.ts";
import type { CommandJudgement, ParsedLine } from "./findings.ts";
import { judgeReading, judgeSimple, judgeWritten } from "./judge-simple.ts";
import type { LineContext } from "./judge-simple.ts";
import { Folders } from "./places.ts";
import { constructs, plainTypes } from "./tables/constructs.ts";
import { nowhere } from "./tables/paths.ts";
import { isLiteral, readWord } from "./words.ts";
import type { ReadWord } from "./words.ts";

/** Judges a line by its nodes. Returns a reason, as a sentence, for what takes too much work. */
export function judgeLine(
  nodes: readonly SyntaxNode[],
  stakes: Stakes,
  findings = new Findings(),
): CommandJudgement | string {
  const line = { findings, folders: new Folders(), hasWritableMount: stakes.writableMount };
  try {
    for (const node of nodes) {
      judgeNode(node, line);
      if (node.type === "Function" && nodes.some((inner) => startsAgain(node, inner)))
        findings.add("high", `${node.name.text}()`, "starts itself again and again");
    }
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
  return { ...findings.verdict(stakes), line: { ...describe(nodes), commands: findings.commands } };
}

function judgeNode(node: SyntaxNode, line: LineContext): void {
  const { findings } = line;
  if (node.type === "Statement" && node.background === true) findings.add("medium", "&", "lets a command run on");
  if (node.type === "Pipeline" && node.operators.includes("|&")) findings.add("medium", "|&", "is no plain pipe");
  if (node.type === "Command") judgeSimple(wordsOf(node), line);
  if (node.type === "Redirect") judgeRedirect(node, line);
  if (!plainTypes[node.type]) judgeConstruct(node, findings);
}

function judgeConstruct(node: SyntaxNode, findings: Findings): void {
  const text = "text" in node ? node.text : node.type;
  // A number, whatever happens before.
  if (text === "$?") return;
  const [level, does, sign] = constructs[node.type] ?? ["open", "is not on the list"];
  findings.add(level, sign ?? text, does);
}

/** `f() { f; }` */
function startsAgain({ name, pos, end }: FunctionNode, inner: SyntaxNode): boolean {
  return inner.type === "Command" && inner.name?.text === name.text && inner.pos > pos && inner.end <= end;
}

/** Name and arguments of a simple command. */
export function wordsOf({ name, args }: Command): readonly ReadWord[] {
  return [...(name ? [name] : []), ...args].map(({ text }) => readWord(text));
}

function judgeRedirect({ operator, target }: Redirect, line: LineContext): void {
  if (!target) return;
  const { findings } = line;
  const word = readWord(target.text);
  const piece = `${operator} ${target.text}`;
  if (isDuplication(operator, word)) return;
  judgeReading([word], piece, line);
  if (!isLiteral(word)) findings.add("open", piece, "goes to a file that shows only when it runs");
  else if (operator === "<&") findings.add("open", piece, "is no plain redirection");
  else if (operator !== "<") judgeWritten(word.value, piece, line);
}

/** `2>&1` */
function isDuplication(operator: string, { value }: ReadWord): boolean {
  return /^[<>]&$/.test(operator) && /^(?:\d+|-)$/.test(value ?? "");
}

/** Tells what rules and grants ask about a line. */
function describe(nodes: readonly SyntaxNode[]): Pick<ParsedLine, "isLiteral" | "isOneCommand"> {
  const calls = nodes.filter((node) => node.type === "Command");
  const redirects = nodes.filter((node) => node.type === "Redirect");
  const isPlainLine = calls.length > 0 && nodes.every(isPlain);
  const runsOn = nodes.some((node) => node.type === "Statement" && node.background === true);
  return {
    isLiteral: isPlainLine,
    isOneCommand: isPlainLine && calls.length === 1 && !runsOn && !redirects.some(namesFile),
  };
}

function isPlain(node: SyntaxNode): boolean {
  return node.type === "Word" ? isLiteral(readWord(node.text)) : plainTypes[node.type] === true;
}

function namesFile({ operator, target }: Redirect): boolean {
  const word = readWord(target?.text ?? "");
  return !isDuplication(operator, word) && word.value !== nowhere;
}
