import { forEachChild, parse } from "unbash";
import type { ParsedScript, Redirection, SyntaxNode } from "unbash";

import type { Stakes } from "../../../domain/rights/stakes.ts";
import { visible } from "../../../lib/text/visible.ts";
import { Findings, Refused } from "./findings.ts";
import type { CommandJudgement, Level } from "./findings.ts";
import { judgeReading, judgeSimple, judgeWritten } from "./judge-simple.ts";
import type { LineContext } from "./judge-simple.ts";
import { Folders, isHarmlessDevice } from "./places.ts";
import { isLiteral, readWord } from "./words.ts";

/** Judges a text by its parsed form. Returns a reason, as a sentence, for what cannot be judged. */
export function judgeText(text: string, stakes: Stakes, findings = new Findings()): CommandJudgement | string {
  const line = { findings, folders: new Folders(), hasWritableMount: stakes.writableMount };
  try {
    const script = parse(text);
    visitScript(script, line);
    return findings.judgement(stakes, isOneCommand(script));
  } catch (error) {
    return error instanceof Refused ? error.message : "It cannot be parsed.";
  }
}

/** Constructs that are more than simple commands, and what they do. */
const constructs: Partial<Record<SyntaxNode["type"], readonly [level: Level, does: string]>> = {
  Subshell: ["medium", "is a subshell"],
  BraceGroup: ["medium", "is a group of commands"],
  If: ["medium", "is a condition"],
  While: ["medium", "is a loop"],
  Case: ["medium", "is a condition"],
  Negation: ["medium", "is a negation"],
  Time: ["medium", "measures time"],
  HereDoc: ["medium", "is a here-document"],
  HereString: ["medium", "is a here-string"],
  For: ["open", "sets a variable again and again"],
  Select: ["open", "sets a variable again and again"],
  ArithmeticFor: ["open", "evaluates text"],
  ArithmeticCommand: ["open", "evaluates text"],
  TestCommand: ["open", "may evaluate text"],
  Function: ["open", "defines a function"],
  Coproc: ["open", "runs a command beside"],
  Assignment: ["open", "sets a variable"],
  SimpleExpansion: ["open", "expands when it runs"],
  ParameterExpansion: ["open", "expands when it runs"],
  CommandExpansion: ["open", "runs a command for its output"],
  ProcessSubstitution: ["open", "runs a command for its output"],
  ArithmeticExpansion: ["open", "evaluates text"],
  BraceExpansion: ["open", "expands when it runs"],
  ExtendedGlob: ["open", "expands when it runs"],
};

function visitScript(script: ParsedScript, line: LineContext): void {
  const [error] = script.errors ?? [];
  if (error) throw new Refused(`It cannot be parsed: ${visible(error.message)}.`);
  visitChildren(script, line);
}

function visitChildren(node: SyntaxNode, line: LineContext): void {
  forEachChild(node, (child) => visit(child, line));
}

function visit(node: SyntaxNode, line: LineContext): void {
  const { findings } = line;
  findings.countNode();
  if (node.type === "Script") return visitScript(node, line);
  const [level, does] = constructs[node.type] ?? [];
  if (level !== undefined && does !== undefined) findings.add(level, textOf(node), does);
  judgeNode(node, line);
  visitChildren(node, line);
}

function judgeNode(node: SyntaxNode, line: LineContext): void {
  const { findings } = line;
  if (node.type === "Statement" && node.background === true) findings.add("medium", "&", "lets a command run on");
  if (node.type === "Pipeline" && node.operators.includes("|&")) findings.add("medium", "|&", "is no plain pipe");
  if (node.type === "Command" && node.name)
    judgeSimple(
      [node.name, ...node.args].map(({ text }) => readWord(text)),
      line,
    );
  if (node.type === "Redirect") judgeRedirect(node, line);
  if (node.type === "Function" && callsItself(node, node.name.text, findings))
    findings.add("high", `${node.name.text}()`, "starts itself again and again");
}

/** The source of a node, or what stands for it. */
function textOf(node: SyntaxNode): string {
  if ("text" in node) return node.text;
  if (node.type === "HereDoc" || node.type === "HereString") return node.operator;
  return words[node.type] ?? node.type;
}

const words: Partial<Record<SyntaxNode["type"], string>> = {
  Subshell: "( )",
  BraceGroup: "{ }",
  If: "if",
  While: "while",
  Case: "case",
  Negation: "!",
  Time: "time",
  For: "for",
  Select: "select",
  ArithmeticFor: "for ((",
  ArithmeticCommand: "(( ))",
  TestCommand: "[[ ]]",
  Function: "function",
  Coproc: "coproc",
};

function judgeRedirect(
  { operator, target, descriptor }: Redirection & { readonly type: "Redirect" },
  line: LineContext,
): void {
  if (!target) return;
  const word = readWord(target.text);
  const piece = `${operator} ${target.text}`;
  if (descriptor?.type === "FileDescriptorVariable") line.findings.add("open", piece, "sets a variable");
  if (isDuplication(operator, word.value)) return;
  judgeReading([word], piece, line);
  if (!isLiteral(word)) return line.findings.add("open", piece, "goes to a file that shows only when it runs");
  if (operator === "<") return;
  if (operator !== "<&") judgeWritten(word.value, piece, line);
  else line.findings.add("open", piece, "is no plain redirection");
}

/** `2>&1` */
function isDuplication(operator: string, target: string | undefined): boolean {
  return /^[<>]&$/.test(operator) && /^(?:\d+|-)$/.test(target ?? "");
}

function callsItself(node: SyntaxNode, name: string, findings: Findings): boolean {
  let found = false;
  findings.work();
  forEachChild(node, (child) => {
    found ||= (child.type === "Command" && child.name?.text === name) || callsItself(child, name, findings);
  });
  return found;
}

/** Is all of it one simple command of literal words, without a redirection of files? */
function isOneCommand({ commands }: ParsedScript): boolean {
  const [statement, ...others] = commands;
  if (!statement || others.length > 0 || statement.background === true) return false;
  const { command } = statement;
  if (command.type !== "Command" || !command.name) return false;
  const { name, prefix, suffix } = command;
  return [name, ...prefix, ...suffix].every((piece) => {
    if (piece.type === "Word") return isLiteral(readWord(piece.text));
    if (piece.type !== "Redirect" || !piece.target) return false;
    const { value } = readWord(piece.target.text);
    return isDuplication(piece.operator, value) || isHarmlessDevice(value ?? "");
  });
}
