import type { SyntaxNode } from "unbash";

import type { Level } from "../findings.ts";

type Types<Value> = Partial<Record<SyntaxNode["type"], Value>>;

/** All that a line which is low is made of, and what only holds parts that are judged by themselves. */
export const plainTypes: Types<true> = {
  Script: true,
  Statement: true,
  AndOr: true,
  Pipeline: true,
  Command: true,
  Redirect: true,
  Word: true,
  Literal: true,
  Glob: true,
  SingleQuoted: true,
  DoubleQuoted: true,
  AnsiCQuoted: true,
  CompoundList: true,
  Redirected: true,
  Elif: true,
  CaseItem: true,
  FileDescriptor: true,
  HereDocDelimiter: true,
  HereDocBody: true,
};

/** Other constructs: how they are written where their own text would be too long, and what they do. */
export const constructs: Types<readonly [level: Level, does: string, sign?: string]> = {
  Subshell: ["medium", "is a subshell", "( )"],
  BraceGroup: ["medium", "is a group of commands", "{ }"],
  If: ["medium", "is a condition", "if"],
  While: ["medium", "is a loop", "while"],
  Case: ["medium", "is a condition", "case"],
  Negation: ["medium", "is a negation", "!"],
  Time: ["medium", "measures time", "time"],
  HereDoc: ["medium", "is a here-document", "<<"],
  HereString: ["medium", "is a here-string", "<<<"],
  For: ["open", "sets a variable again and again", "for"],
  Select: ["open", "sets a variable again and again", "select"],
  ArithmeticFor: ["open", "evaluates text", "for (("],
  ArithmeticCommand: ["open", "evaluates text", "(( ))"],
  TestCommand: ["open", "may evaluate text", "[[ ]]"],
  Function: ["open", "defines a function", "function"],
  Coproc: ["open", "runs a command beside", "coproc"],
  Assignment: ["open", "sets a variable"],
  FileDescriptorVariable: ["open", "sets a variable", "{ }>"],
  SimpleExpansion: ["open", "expands when it runs"],
  ParameterExpansion: ["open", "expands when it runs"],
  CommandExpansion: ["open", "runs a command for its output"],
  ProcessSubstitution: ["open", "runs a command for its output"],
  ArithmeticExpansion: ["open", "evaluates text"],
  BraceExpansion: ["open", "expands when it runs"],
  ExtendedGlob: ["open", "expands when it runs"],
};
