import { literalArgument } from "./arguments.ts";
import type { Argument } from "./arguments.ts";
import type { KnownCall, LineContext } from "./call.ts";
import type { CommandFacts, Operands } from "./known-commands.ts";
import { has, isRaised, readOptions, valuesOf } from "./options.ts";
import type { Options } from "./options.ts";
import { judgeReading, judgeWriting } from "./places.ts";

/** Judges a call by what is known of its command, or of its subcommand. */
export function judgeByFacts(call: KnownCall, line: LineContext): void {
  const { args, facts, piece } = call;
  const options = readOptions(args, { values: [...(facts.values ?? []), ...writingOptions(facts)] });
  if (!facts.subcommands) return judgeOptionsAndOperands(call, options, line);
  const [subcommand] = options.operands;
  if (subcommand && subcommand.value === undefined)
    return line.findings.add("high", piece, "does what is known only when it runs");
  const inner = facts.subcommands.get(subcommand?.value ?? "");
  if (!inner) return judgeOptionsAndOperands(call, options, line);
  judgeByFacts({ ...call, facts: inner, args: args.filter((argument) => argument !== subcommand) }, line);
}

/** The risk of the command itself, of its options, and of what its operands name. */
export function judgeOptionsAndOperands(call: KnownCall, options: Options, line: LineContext): void {
  const { facts, piece } = call;
  judgeOptions(call, options, line);
  judgeRead(readBy(facts, options), piece, line);
  const isLow = isLowWith(facts, options);
  const written = [...(isLow ? [] : writtenBy(facts.operands, options)), ...valuesOf(options, writingOptions(facts))];
  for (const argument of written) judgeWritten(argument, piece, line);
  if (facts.operands === "variables")
    for (const { beginning } of options.operands) line.assign(/^\w*/.exec(beginning)?.[0] ?? "", piece);
  if (facts.operands === "none" && !isLow && options.operands.length > 0)
    line.findings.add("medium", piece, "changes what it is given the name of");
  if (written.length === 0 && !isLow) line.findings.add(facts.risk, piece, facts.does);
}

/** Options whose value is a file that is written. */
function writingOptions({ raises = [] }: CommandFacts): readonly string[] {
  return raises.flatMap(({ options, writesTo }) => (writesTo ? options : []));
}

function judgeOptions({ facts: { raises = [] }, piece }: KnownCall, options: Options, { findings }: LineContext): void {
  for (const raise of raises) if (isRaised(options, raise)) findings.add(raise.risk, piece, raise.does);
  if (options.isUnsure && raises.length > 0)
    findings.addUnknown(piece, "may get options that are known only when it runs");
}

function isLowWith({ lowWith = [] }: CommandFacts, options: Options): boolean {
  const last = options.operands.at(-1)?.value;
  return has(options, lowWith) || (last !== undefined && lowWith.includes(last));
}

/** Judges a file that a command writes, changes or removes. */
export function judgeWritten(argument: Argument, piece: string, { findings, folders }: LineContext): void {
  const { risk, does } = judgeWriting(argument, folders);
  if (argument.value === undefined && argument.pattern === undefined) findings.addUnknown(piece, does);
  findings.add(risk, piece, does);
}

/** Judges files that a command reads. */
export function judgeRead(files: readonly Argument[], piece: string, { findings }: LineContext): void {
  for (const file of files) {
    const found = judgeReading(file);
    if (found) findings.add(found.risk, piece, found.does);
  }
}

function writtenBy(kind: Operands, options: Options): readonly Argument[] {
  const { operands } = options;
  if (kind === "written") return operands;
  if (kind === "second-written") return operands.slice(1);
  if (kind !== "last-written") return [];
  const target = valuesOf(options, ["-t", "--target-directory"]);
  const [into] = target.length > 0 ? target : operands.slice(-1);
  if (into?.value === undefined) return into ? [into] : [];
  const isFolder = target.length > 0 || /(?:^|\/)\.{0,2}$/.test(into.value);
  const names = isFolder ? operands.flatMap(({ value }) => value?.split("/").at(-1) ?? []) : [];
  return [into, ...names.map((name) => literalArgument(`${into.value}/${name}`))];
}

function readBy({ operands: kind, values = [] }: CommandFacts, options: Options): readonly Argument[] {
  if (kind !== "read" && kind !== "searched" && kind !== "last-written") return [];
  const hasPattern = kind !== "searched" || has(options, ["-e", "-f", "--regexp", "--file", "--from-file"]);
  const files = hasPattern ? options.operands : options.operands.slice(1);
  const named = options.given.flatMap(({ name, value }) => (value && name.startsWith("--") ? [value] : []));
  return [...files, ...named, ...valuesOf(options, values)];
}
