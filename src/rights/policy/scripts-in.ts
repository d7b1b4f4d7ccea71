import { posix } from "node:path";

import type { Command, SyntaxNode, Word } from "unbash";

import { isLiteralWord } from "./literal-command.ts";

/** Longer commands are not looked at: nobody reads them. */
const maxChars = 16_384;

/** Programs that run a file of their arguments: their options that take a value, and those that are the program. */
const interpreters: Readonly<Record<string, { readonly valued?: string; readonly inline?: string }>> = {
  sh: { valued: "-o +o", inline: "-c" },
  bash: { valued: "-o +o -O +O --rcfile --init-file", inline: "-c" },
  dash: { valued: "-o +o", inline: "-c" },
  zsh: { valued: "-o +o", inline: "-c" },
  ksh: { valued: "-o +o", inline: "-c" },
  python: { valued: "-W -X", inline: "-c -m" },
  node: { valued: "-r --require --import -C --conditions --loader --env-file", inline: "-e --eval -p --print" },
  deno: { inline: "eval" },
  bun: { inline: "-e --eval" },
  tsx: { inline: "-e --eval" },
  perl: { inline: "-e -E" },
  ruby: { valued: "-r -I -C", inline: "-e" },
  php: { inline: "-r" },
  lua: { valued: "-l", inline: "-e" },
  Rscript: { inline: "-e" },
};

/** Programs that run their arguments as a command, with how many operands come before it. */
const runners: Readonly<Record<string, number>> = {
  command: 0,
  env: 0,
  exec: 0,
  nice: 0,
  nohup: 0,
  setsid: 0,
  stdbuf: 0,
  time: 0,
  timeout: 1,
};

/**
 * The files that a command runs as programs, as paths relative to its folder, by its literal words: `./x`, `sh x`,
 * `python x`, `. x`, `bash < x`, `cat x | bash`. What only the run knows is not among them, nor what these files run.
 */
export async function scriptsIn(command: string): Promise<readonly string[]> {
  if (command.length > maxChars || !command.isWellFormed()) return [];
  // Loaded with the first command that is asked about.
  const { forEachChild, parse } = await import("unbash");
  const found = new Set<string>();
  let folder: string | undefined = "";
  const add = (paths: readonly string[]): void => {
    for (const path of paths) {
      if (posix.isAbsolute(path)) found.add(path);
      else if (folder !== undefined) found.add(posix.join(folder, path));
    }
  };
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Pipeline") add(pipedInto(node.commands));
    if (node.type === "Command") {
      const words = wordsOf(node);
      add(runBy(words, node));
      if (words[0] === "cd" || words[0] === "pushd") folder = folderAfter(folder, words);
    }
    forEachChild(node, visit);
  };
  try {
    for (const statement of parse(command).commands) visit(statement);
  } catch {
    return [];
  }
  return [...found];
}

/** Undefined: a word that only the run knows. */
type Words = readonly (string | undefined)[];

function wordsOf({ name, args }: Command): Words {
  const words = [...(name ? [name] : []), ...args].map((word) => (word.type === "Word" ? valueOf(word) : word.text));
  return unwrapped(words);
}

function valueOf(word: Word): string | undefined {
  return isLiteralWord(word) ? word.value : undefined;
}

/** Without what only runs the rest. */
function unwrapped(words: Words): Words {
  const [program = ""] = words;
  const before = Object.hasOwn(runners, program) ? runners[program] : undefined;
  if (before === undefined) return words;
  let next = 1;
  while (/^(?:-|[A-Za-z_]\w*=)/.test(words[next] ?? "")) next += /^-[nu]$/.test(words[next] ?? "") ? 2 : 1;
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

function interpreterOf(program: string): (typeof interpreters)[string] | undefined {
  const name = posix.basename(program).replace(/^(python|ruby|php|lua|perl)[\d.]+$/, "$1");
  return Object.hasOwn(interpreters, name) ? interpreters[name] : undefined;
}

/** `loaded`: files that options name. `program`: undefined where it is none of the words. */
function readArguments({ valued = "", inline = "" }: (typeof interpreters)[string], words: Words) {
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
    const path = isInput && one.target ? valueOf(one.target) : undefined;
    return path === undefined ? [] : [path];
  });
}

/** `cat x | bash`. */
function pipedInto(commands: readonly SyntaxNode[]): string[] {
  return commands.flatMap((node, index) => {
    const next = commands[index + 1];
    if (node.type !== "Command" || next?.type !== "Command") return [];
    const [program, ...files] = wordsOf(node);
    const [into = "", ...rest] = wordsOf(next);
    const known = interpreterOf(into);
    if (program !== "cat" || !known) return [];
    const { program: named, isInline } = readArguments(known, rest);
    return named || isInline
      ? []
      : ([...files.filter((word) => word !== undefined && !word.startsWith("-")), ...inputsOf(node)] as string[]);
  });
}
