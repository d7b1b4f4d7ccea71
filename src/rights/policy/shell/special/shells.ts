import { unknownArgument } from "../arguments.ts";
import type { Argument } from "../arguments.ts";
import type { KnownCall, LineContext } from "../call.ts";
import { has, readOptions, valuesOf } from "../options.ts";
import { judgeReading } from "../places.ts";
import { judgeText } from "./runners.ts";

const onlyAtRun = "that is known only when it runs";

/** Shells: what they are to run may be an argument, a file, or their input. */
export function judgeShell({ args, facts, name, piece }: KnownCall, line: LineContext): void {
  const { findings } = line;
  const values = ["-o", "-O", "--rcfile", "--init-file"];
  const options = readOptions(args, { ...facts, values }, true);
  const operands = options.operands.filter(({ value }) => value === undefined || !value.startsWith("+"));
  if (has(options, ["--rcfile", "--init-file"])) findings.add("high", piece, "starts with its own file");
  if (options.isUnsure) findings.addUnknown(piece, `may get options ${onlyAtRun}`);
  const [first] = operands;
  // A text that begins with a dash is taken for more options.
  if (has(options, ["-c"])) return judgeText([first ?? unknownArgument(piece, "")], piece, line);
  if (first && !has(options, ["-s"])) return judgeScript(first, piece, line);
  if (line.heredoc !== undefined) return line.runText(line.heredoc);
  if (line.input !== undefined) findings.add("high", piece, `makes ${name} run what ${line.input} holds or prints`);
}

function judgeScript(file: Argument, piece: string, { findings }: LineContext): void {
  if (file.isProcess || file.value === "-" || /^\/dev\/(?:stdin|fd\/)/.test(file.value ?? ""))
    return findings.add("high", piece, "runs what other commands print");
  findings.add("medium", piece, "runs a file whose content is not seen");
  const found = judgeReading(file);
  if (found) findings.add(found.risk, piece, found.does);
}

export function judgeSource({ args, piece }: KnownCall, line: LineContext): void {
  const [file] = args[0]?.value === "--" ? args.slice(1) : args;
  if (file) judgeScript(file, piece, line);
}

const inlineCode = ["-c", "-e", "-E", "-p", "-n", "-r", "--eval", "--print"];
const networkModules = /^(?:http\.|pip|ensurepip|venv|smtp|ftp|xmlrpc|socketserver|webbrowser)/;

/**
 * Other languages are not parsed: a file with the same text would run all the same, so inline code is not judged worse.
 */
export function judgeInterpreter({ args, facts, piece }: KnownCall, line: LineContext): void {
  const { findings } = line;
  if (args.length === 1 && /^-(?:v|V)$/.test(args[0]?.value ?? "")) return;
  const options = readOptions(args, { ...facts, values: ["-m", "-W", "-X", "-I", "-r"] }, true);
  const [module] = valuesOf(options, ["-m"]);
  const [file] = options.operands;
  if (module && networkModules.test(module.value ?? "http."))
    findings.add("high", piece, "reaches the network or installs software");
  else if (module) findings.add("medium", piece, "runs a module whose content is not seen");
  else if (!file || file.value === "-" || has(options, inlineCode))
    findings.addUnknown(piece, "runs code that is not parsed");
  else judgeScript(file, piece, line);
}
