import { posix } from "node:path";

import type { Command, SyntaxNode } from "unbash";

import { wordsOf } from "./shell/judge-line.ts";
import { parseLine } from "./shell/parse-line.ts";
import { interpreters, runners } from "./shell/tables/programs.ts";
import type { Interpreter } from "./shell/tables/programs.ts";
import { isLiteral, readWord } from "./shell/words.ts";
import type { ReadWord } from "./shell/words.ts";

/**
 * The files that a command runs as programs, as paths relative to its folder, by its literal words: `./x`, `sh x`,
 * `python x`, `. x`, `bash < x`, `cat x | bash`. What only the run knows is not among them, nor what these files run.
 */
export async function scriptsIn(command: string): Promise<readonly string[]> {
  const nodes = await parseLine(command);
  const found = new Set<string>();
  let folder: string | undefined = "";
  for (const node of typeof nodes === "string" ? [] : nodes) {
    for (const path of scriptsOf(node)) {
      if (posix.isAbsolute(path)) found.add(path);
      else if (folder !== undefined) found.add(posix.join(folder, path));
    }
    const words = node.type === "Command" ? valuesOf(node) : [];
    if (words[0] === "cd" || words[0] === "pushd") folder = folderAfter(folder, words);
  }
  return [...found];
}

function scriptsOf(node: SyntaxNode): readonly string[] {
  if (node.type === "Pipeline") return pipedInto(node.commands);
  return node.type === "Command" ? runBy(valuesOf(node), node) : [];
}

/** Undefined: a word that only the run knows. */
type Words = readonly (string | undefined)[];

function valuesOf(command: Command): Words {
  return unwrapped(wordsOf(command).map(valueOf));
}

function valueOf(word: ReadWord): string | undefined {
  return isLiteral(word) ? word.value : undefined;
}

/** Without what only runs the rest. */
function unwrapped(words: Words): Words {
  const [program = ""] = words;
  const runner = Object.hasOwn(runners, program) ? runners[program] : undefined;
  if (!runner) return words;
  const { before = 0, valued = "" } = runner;
  let next = 1;
  while (/^(?:-|[A-Za-z_]\w*=)/.test(words[next] ?? "")) next += valued.split(" ").includes(words[next] ?? "") ? 2 : 1;
  return unwrapped(words.slice(next + before));
}

/** Undefined: known only when it runs. */
function folderAfter(folder: string | undefined, words: Words): string | undefined {
  const operands = words.slice(1).filter((word) => word === undefined || !word.startsWith("-"));
  const [to] = operands;
  if (operands.length !== 1 || to === undefined) return undefined;
  if (posix.isAbsolute(to)) return to;
  return folder === undefined ? undefined : posix.join(folder, to);
}

function runBy(words: Words, node: Command): string[] {
  const [program, ...rest] = words;
  if (program === undefined) return [];
  if (program === "." || program === "source") return rest[0] === undefined ? [] : [rest[0]];
  const known = interpreterOf(program);
  const own = program.includes("/") && !known ? [program] : [];
  if (!known) return own;
  const read = readArguments(known, rest);
  return [...read.loaded, ...(read.program ?? (read.isInline ? [] : inputsOf(node)))];
}

function interpreterOf(program: string): Interpreter | undefined {
  const name = posix.basename(program).replace(/^(python|ruby|php|lua|perl)[\d.]+$/, "$1");
  return Object.hasOwn(interpreters, name) ? interpreters[name] : undefined;
}

/** `loaded`: files that options name. `program`: undefined where it is none of the words. */
function readArguments({ valued = "", inline = "" }: Interpreter, words: Words) {
  const loaded: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) return { loaded, program: [], isInline: true };
    if (namesProgram(word, inline)) return { loaded, program: undefined, isInline: true };
    if (valued.split(" ").includes(word)) {
      const value = words[at + 1];
      if (value?.includes("/") === true) loaded.push(value);
      at += 1;
    } else if (word === "-") break;
    else if (word !== "run" && !/^[-+]./.test(word)) return { loaded, program: [word], isInline: false };
  }
  return { loaded, program: undefined, isInline: false };
}

/** An option that says that the program is its value; short ones may be joined: `-lc`. */
function namesProgram(word: string, inline: string): boolean {
  const isJoined = /^-[A-Za-z]{2,}$/.test(word);
  return inline
    .split(" ")
    .some((one) => one !== "" && (word === one || (isJoined && one.length === 2 && word.endsWith(one.slice(1)))));
}

/** Files that it reads its program from. */
function inputsOf({ redirects }: Command): string[] {
  return redirects.flatMap((one) => {
    const isInput =
      one.type === "Redirect" &&
      one.operator === "<" &&
      (one.descriptor?.type !== "FileDescriptor" || one.descriptor.value === 0);
    const path = isInput && one.target ? valueOf(readWord(one.target.text)) : undefined;
    return path === undefined ? [] : [path];
  });
}

/** `cat x | bash`. */
function pipedInto(commands: readonly SyntaxNode[]): string[] {
  return commands.flatMap((node, index) => {
    const next = commands[index + 1];
    if (node.type !== "Command" || next?.type !== "Command") return [];
    const [program, ...files] = valuesOf(node);
    const [into = "", ...rest] = valuesOf(next);
    const known = interpreterOf(into);
    if (program !== "cat" || !known) return [];
    const { program: named, isInline } = readArguments(known, rest);
    return named || isInline
      ? []
      : ([...files.filter((word) => word !== undefined && !word.startsWith("-")), ...inputsOf(node)] as string[]);
  });
}
