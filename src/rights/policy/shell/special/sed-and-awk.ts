import { literalArgument } from "../arguments.ts";
import type { Argument } from "../arguments.ts";
import type { KnownCall, LineContext } from "../call.ts";
import { judgeRead, judgeWritten } from "../judge-by-facts.ts";
import { has, readOptions, valuesOf } from "../options.ts";
import { readAwk, readSed } from "../text-programs.ts";
import type { Deeds } from "../text-programs.ts";

const onlyAtRun = "that is known only when it runs";

function tellDeeds(deeds: Deeds, { piece }: KnownCall, line: LineContext): void {
  if (deeds.kind === "runs") line.findings.add("high", piece, "can run other commands");
  else if (deeds.kind === "writes") judgeWritten(literalArgument(deeds.path), piece, line);
  else if (deeds.kind === "unsure") line.findings.addUnknown(piece, "runs a program that may do more than print");
}

function judgeProgram(
  program: Argument,
  read: (text: string) => Deeds,
  [call, line]: readonly [KnownCall, LineContext],
): void {
  tellDeeds(program.value === undefined ? { kind: "unsure" } : read(program.value), call, line);
}

export function judgeSed(call: KnownCall, line: LineContext): void {
  const { args, facts, piece } = call;
  const options = readOptions(args, {
    ...facts,
    values: ["-e", "-f", "-l", "--expression", "--file", "--line-length"],
  });
  const scripts = valuesOf(options, ["-e", "--expression"]);
  const isInFile = has(options, ["-f", "--file"]);
  const [first, ...others] = options.operands;
  const files = scripts.length > 0 || isInFile ? options.operands : others;
  if (options.isUnsure) line.findings.addUnknown(piece, `may get options ${onlyAtRun}`);
  if (isInFile) line.findings.add("medium", piece, "runs a program whose content is not seen");
  for (const script of scripts.length > 0 ? scripts : isInFile || !first ? [] : [first])
    judgeProgram(script, readSed, [call, line]);
  judgeRead(files, piece, line);
  if (!options.given.some(({ name }) => name === "-i" || /^--in?-?p?/.test(name))) return;
  line.findings.add("medium", piece, "changes files");
  for (const file of files) judgeWritten(file, piece, line);
}

export function judgeAwk(call: KnownCall, line: LineContext): void {
  const { args, facts, piece } = call;
  const options = readOptions(
    args,
    { ...facts, values: ["-F", "-v", "-f", "--field-separator", "--assign", "--file"] },
    true,
  );
  const isPlain = options.given.every(({ name }) => /^(?:-F.*|-v.*|--field-separator|--assign)$/s.test(name));
  const isSplit = options.given.some(({ value }) => value?.value === undefined && value?.mayBeOption === true);
  if (!isPlain || isSplit) line.findings.addUnknown(piece, "runs a program that may do more than print");
  const [program, ...files] = options.operands;
  if (has(options, ["-f", "--file"])) return judgeRead(options.operands, piece, line);
  if (program) judgeProgram(program, readAwk, [call, line]);
  judgeRead(files, piece, line);
}
