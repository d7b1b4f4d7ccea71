import { posix } from "node:path";

import { findCommand, isKnownName } from "./known-commands.ts";
import type { KnownCommand } from "./known-commands.ts";
import type { Findings } from "./findings.ts";
import { readCallOptions } from "./options.ts";
import { faultOfReading, home, isDelicateFolder, isWhole, judgeWriting } from "./places.ts";
import type { Folders } from "./places.ts";
import { kinds } from "./tables/commands.ts";
import { runners } from "./tables/programs.ts";
import { isLiteral, seenText } from "./words.ts";
import type { ReadWord } from "./words.ts";

/** Context for judging a piece of a line. */
export interface LineContext {
  readonly findings: Findings;
  readonly folders: Folders;
  readonly hasWritableMount: boolean;
}

/** A command with its arguments. */
interface Call {
  readonly name: string;
  readonly args: readonly ReadWord[];
  /** The command as it stands in the line. */
  readonly piece: string;
}

/** A call by its row of the table. */
interface KnownCall extends Call, KnownCommand {
  readonly operands: readonly ReadWord[];
  /** Operands but for a pattern, a program or a mode. */
  readonly paths: readonly ReadWord[];
}

const programFolder = /^\/(?:usr\/(?:local\/)?)?s?bin\//;
const onlyAtRun = "shows only when it runs";

/** Judges one simple command: a name and its arguments. */
export function judgeSimple(words: readonly ReadWord[], line: LineContext): void {
  const { findings } = line;
  const [first, ...args] = words;
  if (!first) return;
  findings.work(words.length);
  const piece = words.map(({ source }) => source).join(" ");
  const name = seenText(first).replace(programFolder, "");
  findings.addCommand(piece, [name, ...args.map(seenText)].join(" "));
  for (const word of words) if (word.value === undefined) findings.add("open", word.source, onlyAtRun);
  if (!isLiteral(first)) return findings.add("open", first.source, onlyAtRun);
  if (/[^\x21-\x7e]/.test(name))
    return findings.add("high", first.source, "has a name with characters that look like others or like none");
  judgeCall({ name, args: name === "git" ? withoutPlainOptions(args) : args, piece }, line);
}

/** `git -C folder --no-pager log` → `log` */
function withoutPlainOptions(args: readonly ReadWord[]): readonly ReadWord[] {
  const [option, folder] = args;
  if (option?.value === "--no-pager") return withoutPlainOptions(args.slice(1));
  return option?.value === "-C" && folder && isLiteral(folder) ? withoutPlainOptions(args.slice(2)) : args;
}

function judgeCall(call: Call, line: LineContext): void {
  const { name, args, piece } = call;
  const { findings } = line;
  const values = args.map((word) => (isLiteral(word) ? word.value : undefined));
  const { known, high, named } = findCommand([name, ...values]);
  if (known) return judgeKnown({ ...call, args: args.slice(named - 1) }, known, line);
  if (high !== undefined) findings.add("high", piece, high);
  judgeReading(args, piece, line);
  if (!Object.hasOwn(runners, name)) return findings.add("open", piece, describeUnknown(name));
  judgeInner(args, args.findIndex(isCommandName), line);
  findings.add("open", piece, "runs another command");
}

function describeUnknown(name: string): string {
  return name.includes("/") ? "runs a file whose content is not seen" : "does what the line does not show";
}

/** The command that another one runs. */
function judgeInner(args: readonly ReadWord[], from: number, line: LineContext): void {
  if (from >= 0) judgeSimple(args.slice(from), line);
}

function isCommandName(word: ReadWord): boolean {
  return isLiteral(word) && isKnownName(word.value.replace(programFolder, ""));
}

/** Judges a command that is in the table. */
function judgeKnown(call: Call, known: KnownCommand, line: LineContext): void {
  const { findings } = line;
  const { name, args, piece } = call;
  const { operands, given, unlisted, medium } = readCallOptions(args, known);
  const pattern = isFirstNoPath(known, given) ? operands[0] : undefined;
  const knownCall = { ...call, ...known, operands, paths: operands.filter((word) => word !== pattern) };
  const { on, does } = kinds[known.kind];
  if (does !== undefined) findings.add("medium", piece, does);
  if (unlisted) findings.add("open", unlisted.source, `is no option of ${name} that is on the list`);
  if (medium) findings.add("medium", medium.source, `makes ${name} read files that the line does not name`);
  if (name === "find") judgeFind(knownCall, line);
  judgeBounds(knownCall, line);
  judgeGlobs(knownCall, line);
  // Also values of options may be paths.
  if (on)
    judgeReading(
      args.filter((word) => word !== pattern),
      piece,
      line,
    );
  if (known.kind === "goes") judgeGoing(knownCall, line);
  else if (on === "changes") judgeChanging(knownCall, given, line);
}

/** Is the first operand a program, a mode or a pattern? */
function isFirstNoPath({ program, pattern }: KnownCommand, given: ReadonlySet<string>): boolean {
  return program !== undefined || (pattern === true && !given.has("-e") && !given.has("--regexp"));
}

function judgeBounds({ name, args, piece, ...call }: KnownCall, { findings }: LineContext): void {
  const { operands, most = Infinity, program, each, never } = call;
  for (const [index, word] of operands.entries()) {
    const shape = index === 0 && program ? program : each;
    if (shape && !(isLiteral(word) && shape.test(word.value)))
      findings.add("open", word.source, `is not on the list of what ${name} may be given`);
  }
  const bad = args.find(({ value }) => value !== undefined && never?.test(value));
  if (bad) findings.add("open", bad.source, `is on the list of what ${name} may not be given`);
  if (operands.length > most) findings.add("open", piece, `has more operands than ${name} only looks at`);
}

/** A pattern may match what is taken for an option, if it begins with one, and files that hold secrets. */
function judgeGlobs({ kind, operands }: KnownCall, { findings }: LineContext): void {
  const { on } = kinds[kind];
  for (const { value, isGlob, source } of operands) {
    if (value === undefined || !isGlob) continue;
    if (/^[*?[\]-]/.test(value)) findings.add(on ? "open" : "medium", source, "may become an option");
    else if (on)
      findings.add(on === "changes" ? "open" : "medium", source, "matches files that the line does not name");
  }
}

function judgeGoing({ paths: [folder], piece }: KnownCall, { findings, folders }: LineContext): void {
  if (!folders.enter(folder?.value ?? home)) return findings.add("open", piece, "is one of too many folders");
  findings.work(folders.all.length);
  if (folders.all.some(isDelicateFolder))
    findings.add("open", piece, "goes where names do not tell which files hold secrets");
}

const narrows = /^-(?:i?name|i?path|i?wholename|i?regex|empty|newer\w*|[acm]time|[acm]min|size)$/;
const widens = /^(?:-o|-or|-not|!|,)$/;

function judgeFind({ args, operands, piece }: KnownCall, line: LineContext): void {
  const values = args.map(({ value }) => value ?? "");
  if (values.includes("-delete")) {
    if (!values.some((value) => narrows.test(value)) || values.some((value) => widens.test(value)))
      line.findings.add("high", piece, "removes everything below a folder");
    line.findings.add("medium", piece, "removes files");
    for (const { value = "" } of [...operands, { value: "." }]) judgeWritten(value, piece, line);
  }
  for (const [index, value] of values.entries())
    if (/^-(?:exec|execdir|ok|okdir)$/.test(value)) judgeInner(args, index + 1, line);
}

/** Judges what a command writes, changes or removes. */
function judgeChanging({ name, kind, paths, piece }: KnownCall, given: ReadonlySet<string>, line: LineContext): void {
  const isDeep = ["-r", "-R", "--recursive"].some((option) => given.has(option));
  if (name === "rm" || name === "mv") for (const path of paths) judgeRemoval(path, piece, isDeep, line);
  const last = paths.at(-1);
  // The last one may be a folder.
  if ((kind === "copies" || name === "mv") && last && isLiteral(last))
    for (const path of paths.slice(0, -1)) judgeWritten(`${last.value}/${posix.basename(seenText(path))}`, piece, line);
  for (const path of kind === "copies" ? paths.slice(-1) : paths)
    if (isLiteral(path)) judgeWritten(path.value, piece, line);
}

function judgeRemoval(path: ReadWord, piece: string, isDeep: boolean, { findings, folders }: LineContext): void {
  findings.work(folders.all.length);
  if (isWhole(seenText(path), folders)) findings.add("high", piece, "removes a whole folder that the group works in");
  if (isDeep && path.value === undefined) findings.add("high", piece, "removes folders that show only when it runs");
}

/** Judges writing to a literal path. */
export function judgeWritten(path: string, piece: string, { findings, hasWritableMount }: LineContext): void {
  const found = judgeWriting(path, hasWritableMount);
  if (found) findings.add(found.level, piece, found.does);
}

/** Judges words with paths in them that are read, or may be. */
export function judgeReading(words: readonly ReadWord[], piece: string, { findings, folders }: LineContext): void {
  for (const word of words) {
    const fault = faultOfReading(seenText(word), folders, (names) => findings.work(names));
    if (fault !== undefined) findings.add("high", piece, fault);
  }
}
