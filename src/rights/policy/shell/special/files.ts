import { posix } from "node:path";

import { containerPaths } from "../../../../protocol/paths.ts";
import { literalArgument, unknownArgument } from "../arguments.ts";
import type { Argument } from "../arguments.ts";
import type { KnownCall, LineContext } from "../call.ts";
import { judgeOptionsAndOperands, judgeRead, judgeWritten } from "../judge-by-facts.ts";
import { has, readOptions, valuesOf } from "../options.ts";
import { isWholeGroup } from "../places.ts";

const onlyAtRun = "that is known only when it runs";

export function judgeCd({ args, facts }: KnownCall, line: LineContext): void {
  const [target] = readOptions(args, facts).operands;
  const path = target ? target.value : containerPaths.home;
  if (path === undefined || path === "") return;
  for (const folder of line.folders) line.enter(posix.resolve(folder, path));
}

export function judgeRm({ args, facts, piece }: KnownCall, line: LineContext): void {
  const options = readOptions(args, facts);
  const isDeep = has(options, ["-r", "-R", "--recursive"]);
  for (const operand of options.operands) judgeRemoval(operand, piece, { line, isDeep });
}

export function judgeRemoval(
  target: Argument,
  piece: string,
  { line, isDeep }: { readonly line: LineContext; readonly isDeep: boolean },
): void {
  const { findings, folders } = line;
  const isUnknown = target.value === undefined && target.pattern === undefined;
  if (isDeep && isWholeGroup(target, folders)) findings.add("high", piece, "removes everything that the group has");
  if (isDeep && isUnknown && (target.beginning === "" || target.beginning === "/"))
    findings.add("high", piece, `removes a whole folder ${onlyAtRun}`);
  judgeWritten(target, piece, line);
}

export function judgeKill({ args, facts, piece }: KnownCall, { findings }: LineContext): void {
  if (args.slice(1).some(({ value }) => value === "-1")) findings.add("high", piece, "ends all processes");
  findings.add(facts.risk, piece, facts.does);
}

export function judgeDd({ args, piece }: KnownCall, line: LineContext): void {
  judgeRead(args, piece, line);
  for (const { value, beginning, source } of args) {
    if (value?.startsWith("of=")) judgeWritten(literalArgument(value.slice(3)), piece, line);
    else if (value === undefined && /^(?:of=.*)?$/.test(beginning))
      judgeWritten(unknownArgument(source, beginning.slice(3)), piece, line);
  }
}

export function judgeRsync(call: KnownCall, line: LineContext): void {
  const { args, facts, piece } = call;
  const options = readOptions(args, { ...facts, values: ["-e", "--rsh", "--rsync-path", "-f"] });
  if (has(options, ["-e", "--rsh", "--rsync-path"])) line.findings.add("high", piece, "runs another program");
  if (options.operands.some(({ value, beginning }) => /^[^/]*:/.test(value ?? beginning)))
    return line.findings.add("high", piece, "reaches the network");
  judgeOptionsAndOperands({ ...call, facts: { ...facts, operands: "last-written" } }, options, line);
}

export function judgeTar(call: KnownCall, line: LineContext): void {
  const { facts, piece } = call;
  const [first, ...rest] = call.args;
  const isBundle = first?.value !== undefined && /^[A-Za-z]/.test(first.value);
  const args = isBundle ? [literalArgument(`-${first.value}`), ...rest] : call.args;
  const options = readOptions(args, {
    ...facts,
    values: ["-f", "-C", "-T", "-X", "-b", "-I", "-F", "-K", "-N", "-V", "-g"],
  });
  const runs = [
    "-I",
    "-F",
    "--to-command",
    "--use-compress-program",
    "--checkpoint-action",
    "--info-script",
    "--rsh-command",
  ];
  if (
    options.given.some(({ name }) => runs.some((run) => run === name || (/^--../.test(name) && run.startsWith(name))))
  )
    line.findings.add("high", piece, "runs another program");
  const makes = has(options, ["-c", "-r", "-u", "-A", "--create", "--append", "--update"]);
  const lists = has(options, ["-t", "--list"]) && !makes && !has(options, ["-x", "--extract", "--get", "--delete"]);
  const targets = valuesOf(options, makes ? ["-f", "--file"] : ["-C", "--directory"]);
  judgeRead(options.operands, piece, line);
  if (lists) return;
  for (const target of targets) judgeWritten(target, piece, line);
  line.findings.add(facts.risk, piece, facts.does);
}
