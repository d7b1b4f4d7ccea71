import { literalArgument, unknownArgument } from "../arguments.ts";
import type { Argument } from "../arguments.ts";
import type { KnownCall, LineContext } from "../call.ts";
import { judgeWritten } from "../judge-by-facts.ts";
import { judgeRemoval } from "./files.ts";

/** Tests that select only some of what was found. */
const narrows = /^-(?:i?name|i?path|i?regex|empty|newer|[acm]time|[acm]min|size)/;

export function judgeFind({ args, piece }: KnownCall, line: LineContext): void {
  const begin = args.findIndex(({ beginning }) => /^[-(!]/.test(beginning));
  const starts = begin < 0 ? args : args.slice(0, begin);
  if (args.some(({ mayBeOption }) => mayBeOption))
    line.findings.addUnknown(piece, "may get options that are known only when it runs");
  let rest = args;
  for (let word = rest[0]; word; word = rest[0]) {
    rest = rest.slice(1);
    const { value = "" } = word;
    if (/^-(?:exec|execdir|ok|okdir)$/.test(value)) {
      const end = rest.findIndex((argument) => argument.value === ";" || argument.value === "+");
      const words = rest.slice(0, end < 0 ? undefined : end);
      line.run(words.map((argument) => withFound(argument, starts)));
      rest = rest.slice(words.length);
    } else if (value === "-delete") judgeDelete({ args, starts, piece }, line);
    else if (/^-(?:fprint0?|fprintf|fls)$/.test(value)) judgeWritten(rest[0] ?? word, piece, line);
  }
}

interface Deletion {
  readonly args: readonly Argument[];
  readonly starts: readonly Argument[];
  readonly piece: string;
}

function judgeDelete({ args, starts, piece }: Deletion, line: LineContext): void {
  const isDeep = !args.some(({ value }) => narrows.test(value ?? ""));
  for (const start of starts.length > 0 ? starts : [literalArgument(".")]) judgeRemoval(start, piece, { line, isDeep });
}

/** `{}` stands for a file that was found: it begins with the folder that was searched. */
function withFound(argument: Argument, starts: readonly Argument[]): Argument {
  const before = argument.value?.split("{}")[0];
  if (before === undefined || before === argument.value) return argument;
  const [start = literalArgument(".")] = starts;
  const path = starts.length > 1 || start.value === undefined ? "" : `${start.value}/`;
  return {
    ...unknownArgument(argument.source, before === "" ? path : before),
    mayBeOption: before === "" && path === "",
  };
}
