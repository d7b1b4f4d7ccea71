import type { Argument } from "./arguments.ts";
import type { KnownCall, LineContext } from "./call.ts";
import { judgeByFacts, judgeOptionsAndOperands } from "./judge-by-facts.ts";
import { findCommand } from "./known-commands.ts";
import { readOptions } from "./options.ts";
import { specialCommands } from "./special-commands.ts";

const programFolder = /^\/(?:usr\/(?:local\/)?)?s?bin\//;
/** Commands that treat `--help` as any other word. */
const takesAnyWord = /^(?:\.|builtin|command|echo|eval|exec|printf|source|test|trap|\[)$/;

/** Judges one command: a name and its arguments. */
export function judgeWords(words: readonly Argument[], line: LineContext): void {
  const [first, ...args] = words;
  if (!first) return;
  const { findings } = line;
  findings.addCommand({ words: words.map(({ value }) => value) });
  const piece = words.map(({ source }) => source).join(" ");
  if (first.value === undefined) return findings.add("high", piece, "runs a command that is known only when it runs");
  if (/[^\x20-\x7e]/.test(first.value))
    return findings.add("high", first.source, "has a name with characters that look like others or like none");
  const name = first.value.replace(programFolder, "");
  if (name.includes("/")) return findings.add("medium", piece, "runs a file whose content is not seen");
  const facts = findCommand(name);
  if (!facts) return findings.add("medium", piece, "runs a command that is not known");
  const asksOnly = args.length === 1 && /^--(?:version|help)$/.test(args[0]?.value ?? "") && !takesAnyWord.test(name);
  if (!asksOnly) judgeCall({ name, facts, args, piece }, line);
}

function judgeCall(call: KnownCall, line: LineContext): void {
  const { facts } = call;
  if (facts.special !== undefined) specialCommands[facts.special](call, line);
  else if (facts.wraps) judgeWrapper(call, line);
  else judgeByFacts(call, line);
}

/** The command behind the options and operands of this one. */
function judgeWrapper(call: KnownCall, line: LineContext): void {
  const { facts, args, piece } = call;
  const { skips } = facts.wraps ?? { skips: 0 };
  const options = readOptions(args, facts, true);
  judgeOptionsAndOperands({ ...call, facts: { ...facts, operands: "named" } }, { ...options, operands: [] }, line);
  const skipped = [...options.operands.slice(0, skips), ...options.given.map(({ value }) => value)];
  if (skipped.some((word) => word?.mayBeOption === true))
    line.findings.addUnknown(piece, "may run a command that is known only when it runs");
  line.run(options.operands.slice(skips));
}
