import { literalArgument, unknownArgument } from "../arguments.ts";
import type { Argument } from "../arguments.ts";
import type { KnownCall, LineContext } from "../call.ts";
import { isTaken } from "../known-commands.ts";
import { has, readOptions, valuesOf } from "../options.ts";

const onlyAtRun = "that is known only when it runs";

/** The text of all of them, as long as it is known. */
function joined(words: readonly Argument[]): string | undefined {
  const values = words.map(({ value }) => value);
  return values.includes(undefined) ? undefined : values.join(" ");
}

export function judgeText(words: readonly Argument[], piece: string, line: LineContext): void {
  const text = joined(words);
  if (text === undefined) line.findings.add("high", piece, `runs text ${onlyAtRun}`);
  else line.runText(text);
}

export function judgeEval({ args, piece }: KnownCall, line: LineContext): void {
  judgeText(args[0]?.value === "--" ? args.slice(1) : args, piece, line);
}

export function judgeTrap({ args, facts, piece }: KnownCall, line: LineContext): void {
  const { operands } = readOptions(args, facts, true);
  const [action] = operands;
  if (action && action.value !== "-") judgeText([action], piece, line);
}

export function judgeAlias({ args, piece }: KnownCall, line: LineContext): void {
  for (const { value, source } of args) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(value ?? source) ?? [];
    if (name === undefined || text === undefined) continue;
    line.findings.add("medium", piece, "gives a name to a command");
    if (isTaken(name)) line.findings.add("high", piece, "gives a known name another meaning");
    judgeText([value === undefined ? unknownArgument(source, "") : literalArgument(text)], piece, line);
  }
}

/** `command -v x` only says where x is. */
export function judgeCommandWord({ args, facts }: KnownCall, line: LineContext): void {
  const { given, operands } = readOptions(args, facts, true);
  if (!has({ given }, ["-v", "-V"])) line.run(operands);
}

function isSetting({ value, beginning }: Argument): boolean {
  return /^\w+=/.test(value ?? beginning);
}

export function judgeEnv({ args, facts, piece }: KnownCall, line: LineContext): void {
  const values = ["-u", "-C", "-S", "--unset", "--chdir", "--split-string"];
  const options = readOptions(args, { ...facts, values }, true);
  const [text] = valuesOf(options, ["-S", "--split-string"]);
  const end = options.operands.findIndex((operand) => operand.value !== "-" && !isSetting(operand));
  const words = end < 0 ? [] : options.operands.slice(end);
  for (const { beginning, source } of options.operands.slice(0, end < 0 ? undefined : end))
    line.assign(/^\w*/.exec(beginning)?.[0] ?? "", source);
  if (options.given.some(({ value }) => value?.mayBeOption === true))
    line.findings.addUnknown(piece, `may run a command ${onlyAtRun}`);
  if (text) judgeText([text, ...words], piece, line);
  else line.run(words);
}

export function judgeXargs({ args, facts, piece }: KnownCall, line: LineContext): void {
  const values = [
    "-I",
    "-n",
    "-P",
    "-L",
    "-d",
    "-s",
    "-a",
    "-E",
    "--max-args",
    "--max-procs",
    "--delimiter",
    "--arg-file",
  ];
  const options = readOptions(args, { ...facts, values }, true);
  if (options.given.some(({ value }) => value?.mayBeOption === true))
    line.findings.addUnknown(piece, `may run a command ${onlyAtRun}`);
  const [replaced] = valuesOf(options, ["-I"]);
  const mark = replaced?.value ?? (has(options, ["-i", "--replace"]) ? "{}" : undefined);
  const words = options.operands;
  if (words.length === 0) return;
  if (mark === undefined) return line.run([...words, unknownArgument("…", "")]);
  line.run(
    words.map((word) =>
      word.value?.includes(mark) ? unknownArgument(word.source, word.value.split(mark)[0] ?? "") : word,
    ),
  );
}
