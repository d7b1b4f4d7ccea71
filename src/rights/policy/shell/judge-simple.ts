import { posix } from "node:path";

import { runners } from "./command-table.ts";
import { findCommand, isKnownName, readRow } from "./known-commands.ts";
import type { KnownCommand } from "./known-commands.ts";
import type { Findings } from "./findings.ts";
import { readCallOptions } from "./options.ts";
import type { CallArguments } from "./options.ts";
import { faultOfReading, isDelicateFolder, isWhole, judgeWriting } from "./places.ts";
import type { Folders } from "./places.ts";
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
  const call = { name, args: name === "git" ? withoutPlainOptions(args) : args, piece };
  if (name === "cd") judgeCd(call, line);
  else judgeCall(call, line);
}

function judgeCall(call: Call, line: LineContext): void {
  const { name, args, piece } = call;
  const { findings } = line;
  const values = args.map((word) => (isLiteral(word) ? word.value : undefined));
  const { known, high = highOfGit(name, values), named } = findCommand([name, ...values]);
  if (high !== undefined && !known) findings.add("high", piece, high);
  if (known) return judgeKnown({ ...call, args: args.slice(named - 1) }, known, line);
  judgeReading(args, piece, line);
  if (name === "dd" && values.some((value) => /^of=\/dev\/(?!null$)/.test(value ?? "")))
    findings.add("high", piece, "destroys what is on a disk");
  if (runners.has(name)) judgeInner(args, args.findIndex(isCommandName), line);
  const does = name.includes("/") ? "runs a file whose content is not seen" : describeUnknown(name);
  findings.add("open", piece, does);
}

function describeUnknown(name: string): string {
  return runners.has(name) ? "runs another command" : "does what the line does not show";
}

/** `git -c x=y push` */
function highOfGit(name: string, values: readonly (string | undefined)[]): string | undefined {
  if (name !== "git" || values[0]?.startsWith("-") !== true) return undefined;
  return values.map((value) => findCommand([name, value]).high).find((does) => does !== undefined);
}

/** `git -C folder --no-pager log` → `log` */
function withoutPlainOptions(args: readonly ReadWord[]): readonly ReadWord[] {
  const [option, folder] = args;
  if (option?.value === "--no-pager") return withoutPlainOptions(args.slice(1));
  return option?.value === "-C" && folder && isLiteral(folder) ? withoutPlainOptions(args.slice(2)) : args;
}

/** The command that another one runs. */
function judgeInner(args: readonly ReadWord[], from: number, line: LineContext): void {
  if (from >= 0) judgeSimple(args.slice(from), line);
}

function isCommandName(word: ReadWord): boolean {
  return isLiteral(word) && isKnownName(word.value.replace(programFolder, ""));
}

const cdOptions = readRow("-P -L --");

function judgeCd({ args, piece }: Call, { findings, folders }: LineContext): void {
  const { operands, unlisted } = readCallOptions(args, cdOptions);
  const [folder, ...others] = operands;
  if (unlisted || others.length > 0 || (folder && !isLiteral(folder))) return findings.add("open", piece, onlyAtRun);
  if (folders.isFull) return findings.add("open", piece, "is one of too many folders");
  folders.enter(folder?.value ?? "/home/agent");
  findings.work(folders.all.length);
  if (folders.all.some(isDelicateFolder))
    findings.add("open", piece, "goes where names do not tell which files hold secrets");
}

/** Judges a command that is in the table. */
function judgeKnown(call: Call, known: KnownCommand, line: LineContext): void {
  const { findings } = line;
  const { name, args, piece } = call;
  const { kind } = known;
  const options = kind === "text" ? { operands: args, given: new Set<string>() } : readCallOptions(args, known.options);
  const pattern = patternOf(name, known, options);
  if (name === "find") judgeFind(call, line);
  judgeOptions(name, options, line);
  judgeBounds(call, known, options.operands, line);
  judgeGlobs(kind, options.operands, line);
  if (kind !== "text" && kind !== "names") judgeReading(without(args, pattern), piece, line);
  if (kind === "searches") findings.add("medium", piece, "reads files that the line does not name");
  if (kind === "acts") judgeActing(call, line);
  if (kind === "writes" || kind === "copies")
    judgeChanging({ ...call, args: without(options.operands, pattern) }, kind, options.given, line);
}

function without(words: readonly ReadWord[], one: ReadWord | undefined): readonly ReadWord[] {
  return words.filter((word) => word !== one);
}

/** The operand that is a pattern, a program or a mode, and no path. */
function patternOf(
  name: string,
  { kind, program }: KnownCommand,
  { operands, given }: CallArguments,
): ReadWord | undefined {
  const mayHaveOne = program !== undefined || kind === "matches" || (kind === "searches" && name === "rg");
  return mayHaveOne && !given.has("-e") && !given.has("--regexp") ? operands[0] : undefined;
}

function judgeOptions(name: string, { unlisted, medium }: CallArguments, { findings }: LineContext): void {
  if (unlisted) findings.add("open", unlisted.source, `is no option of ${name} that is on the list`);
  if (medium) findings.add("medium", medium.source, `makes ${name} read files that the line does not name`);
}

function judgeBounds(
  { name, piece }: Call,
  { most = Infinity, first, program }: KnownCommand,
  operands: readonly ReadWord[],
  { findings }: LineContext,
): void {
  const [begin] = operands;
  const shape = first ?? program;
  if (begin && shape && !(isLiteral(begin) && shape.test(begin.value)))
    findings.add("open", begin.source, `is not on the list of what ${name} may be given`);
  if (operands.length > most) findings.add("open", piece, `has more operands than ${name} only looks at`);
}

/** A pattern may match what is taken for an option, if it begins with one, and files that hold secrets. */
function judgeGlobs(kind: KnownCommand["kind"], paths: readonly ReadWord[], { findings }: LineContext): void {
  for (const { value, isGlob, source } of paths) {
    if (value === undefined || !isGlob) continue;
    const isNamed = kind === "names" || kind === "text";
    const isFirst = /^(?:[*?[\]]|-)/.test(value);
    if (isFirst) findings.add(isNamed ? "medium" : "open", source, "may become an option");
    else if (!isNamed)
      findings.add(
        kind === "writes" || kind === "copies" ? "open" : "medium",
        source,
        "matches files that the line does not name",
      );
  }
}

const narrows = /^-(?:i?name|i?path|i?wholename|i?regex|empty|newer\w*|[acm]time|[acm]min|size)$/;

function judgeFind({ args, piece }: Call, line: LineContext): void {
  const values = args.map(({ value }) => value ?? "");
  if (values.includes("-delete") && !values.some((value) => narrows.test(value)))
    line.findings.add("high", piece, "removes everything below a folder");
  for (const [index, value] of values.entries())
    if (/^-(?:exec|execdir|ok|okdir)$/.test(value)) judgeInner(args, index + 1, line);
}

function judgeActing({ name, args, piece }: Call, { findings }: LineContext): void {
  const isAll = name === "kill" && args.slice(1).some(({ value }) => value === "-1");
  findings.add(isAll ? "high" : "medium", piece, isAll ? "ends all processes" : "changes what runs");
}

/** Judges what a command writes, changes or removes. `args`: the paths. */
function judgeChanging(call: Call, kind: "writes" | "copies", given: ReadonlySet<string>, line: LineContext): void {
  const { name, args, piece } = call;
  line.findings.add("medium", piece, "changes files");
  if (name === "rm" || name === "mv") judgeRemoval(call, given, line);
  const last = args.at(-1);
  // The last one may be a folder.
  if ((kind === "copies" || name === "mv") && last && isLiteral(last))
    for (const word of args.slice(0, -1)) judgeWritten(`${last.value}/${posix.basename(seenText(word))}`, piece, line);
  for (const word of kind === "copies" ? args.slice(-1) : args)
    if (isLiteral(word)) judgeWritten(word.value, piece, line);
}

function judgeRemoval({ args, piece }: Call, given: ReadonlySet<string>, { findings, folders }: LineContext): void {
  const isDeep = ["-r", "-R", "--recursive"].some((option) => given.has(option));
  for (const word of args) {
    findings.work(folders.all.length);
    if (isWhole(seenText(word), folders)) findings.add("high", piece, "removes a whole folder that the group works in");
    if (isDeep && word.value === undefined) findings.add("high", piece, "removes folders that show only when it runs");
  }
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
