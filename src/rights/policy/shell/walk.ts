import { forEachChild, parse } from "unbash";
import type {
  Assignment,
  Command,
  Function,
  ParameterExpansionPart,
  ParsedScript,
  Redirect,
  Redirected,
  SyntaxNode,
} from "unbash";

import { literalArgument, readArguments, unknownArgument } from "./arguments.ts";
import type { Argument } from "./arguments.ts";
import { judgeWords } from "./commands.ts";
import type { LineContext } from "./call.ts";
import type { Findings } from "./findings.ts";
import { isTaken, steeringVariable } from "./known-commands.ts";
import { judgeReading, judgeWriting, startFolder } from "./places.ts";

const maxNodes = 20_000;
/**
 * Nodes within nodes. The parser itself goes down to 256 levels, and below that it leaves out what there is without an
 * error.
 */
const maxDepth = 150;
/** Scripts in substitutions in scripts; the parser reads each level anew. */
const maxScripts = 12;
/** Text that a shell is given, in text that a shell is given. */
const maxTexts = 4;
const maxFolders = 16;

/** Position of a node in a line. */
interface Place {
  /** Scripts that it is within. */
  readonly scripts: number;
  /** Texts for a shell that it is within. */
  readonly texts: number;
  /** Piece that its commands read from, if different from the line's input. */
  readonly input: string | undefined;
}

/** Gives up on the line. */
class Refused extends Error {}

const nested = "It is nested too deeply to be parsed.";

/** Judges a text by its parsed form. What cannot be parsed or is too much of it is told to `findings` as refused. */
export function walkText(text: string, findings: Findings): void {
  const folders = new Set([startFolder]);
  try {
    new Walk(findings, folders).text(text, { scripts: 0, texts: 0, input: undefined });
    // A loop may come back to an earlier command after a `cd` that is behind it.
    if (folders.size > 1) new Walk(findings, folders).text(text, { scripts: 0, texts: 0, input: undefined });
  } catch (error) {
    if (error instanceof Refused) findings.refuse(error.message);
    else findings.refuse(error instanceof RangeError ? nested : "It cannot be parsed.");
  }
}

class Walk {
  readonly #findings: Findings;
  readonly #folders: Set<string>;
  readonly #functions: string[] = [];
  #nodes = 0;
  #depth = 0;

  constructor(findings: Findings, folders: Set<string>) {
    this.#findings = findings;
    this.#folders = folders;
  }

  text(text: string, place: Place): void {
    if (place.texts > maxTexts) throw new Refused(nested);
    this.#script(parse(text), place);
  }

  #script(script: ParsedScript, place: Place): void {
    if (place.scripts > maxScripts) throw new Refused(nested);
    const [error] = script.errors ?? [];
    if (error) throw new Refused(`It cannot be parsed: ${error.message}.`);
    for (const statement of script.commands) this.#visit(statement, place);
  }

  #visit(node: SyntaxNode, place: Place): void {
    this.#nodes += 1;
    this.#depth += 1;
    if (this.#nodes > maxNodes || this.#depth > maxDepth) throw new Refused(nested);
    if (node.type === "Script") this.#script(node, { ...place, scripts: place.scripts + 1 });
    else if (node.type === "Pipeline") this.#pipeline(node.commands, place);
    else if (node.type === "Function") this.#function(node, place);
    else {
      const inner = node.type === "Redirected" ? { ...place, input: inputOf(node) ?? place.input } : place;
      this.#judge(node, inner);
      // What is written into `>(…)` is what its commands read.
      const isFed = node.type === "ProcessSubstitution" && node.operator === ">";
      const within = isFed ? { ...inner, input: "what is written to it" } : inner;
      forEachChild(node, (child) => this.#visit(child, within));
    }
    this.#depth -= 1;
  }

  #judge(node: SyntaxNode, place: Place): void {
    if (node.type === "Command") this.#command(node, place);
    else if (node.type === "Redirect") this.#redirect(node);
    else if (node.type === "Assignment") this.#assignment(node);
    else if (node.type === "For" || node.type === "Select") this.#variable(node.name.text, `for ${node.name.text}`);
    else if (node.type === "ParameterExpansion") this.#expansion(node);
  }

  #expansion({ operation, parameter, text }: ParameterExpansionPart): void {
    if (operation?.type === "Default" && operation.operator.endsWith("=")) this.#variable(parameter, text);
    if (operation?.type === "Transform" && operation.operand.text === "P")
      this.#findings.add("high", text, "runs what stands in a variable");
  }

  #pipeline(commands: readonly SyntaxNode[], place: Place): void {
    let input = place.input;
    for (const command of commands) {
      this.#visit(command, { ...place, input });
      input = "the command before it";
    }
  }

  #function(node: Function, place: Place): void {
    const name = node.name.value;
    if (isTaken(name)) this.#findings.add("high", `${name}()`, "gives a known name another meaning");
    this.#functions.push(name);
    forEachChild(node, (child) => this.#visit(child, place));
    this.#functions.pop();
  }

  #command(node: Command, place: Place): void {
    if (!node.name) return;
    const words = [node.name, ...node.args].flatMap((word) =>
      word.type === "Word" ? readArguments(word) : [asArgument(word)],
    );
    this.#words(words, place, inputOf(node) ?? place.input, heredocOf(node));
  }

  #words(words: readonly Argument[], place: Place, input: string | undefined, heredoc: string | undefined): void {
    const name = words[0]?.value;
    if (name !== undefined && this.#functions.includes(name))
      this.#findings.add("high", name, "starts itself again and again");
    const line: LineContext = {
      findings: this.#findings,
      folders: this.#folders,
      input,
      heredoc,
      run: (inner) => this.#words(inner, place, input, heredoc),
      runText: (text) => this.text(text, { ...place, texts: place.texts + 1, input }),
      enter: (folder) => {
        if (this.#folders.size < maxFolders) this.#folders.add(folder);
      },
      assign: (variable, piece) => this.#variable(variable, piece),
    };
    judgeWords(words, line);
  }

  #assignment({ name, text }: Assignment): void {
    this.#variable(name, text);
  }

  #variable(name: string, piece: string): void {
    if (steeringVariable.test(name)) this.#findings.add("high", piece, "changes what commands run or how they work");
  }

  #redirect(node: Redirect): void {
    const { operator, target } = node;
    if (!target) return;
    for (const argument of readArguments(target)) {
      const piece = `${operator} ${target.text}`;
      if (/^(?:<|>)&$/.test(operator) && /^\d*-?$/.test(argument.value ?? "x")) continue;
      const reading = judgeReading(argument);
      if (reading) this.#findings.add(reading.risk, piece, reading.does);
      if (operator === "<" || operator === "<&") continue;
      const writing = judgeWriting(argument, this.#folders);
      if (argument.value === undefined)
        this.#findings.addUnknown(piece, "writes to a place that is known only when it runs");
      this.#findings.add(writing.risk, piece, writing.does);
    }
  }
}

/** `declare a=b`, where the parser sees an assignment and the command an argument. */
function asArgument({ text, name, value }: Assignment): Argument {
  const [inner] = value.type === "Word" ? readArguments(value) : [];
  if (inner?.value === undefined) return { ...unknownArgument(text, `${name}=`), mayBeOption: false };
  return literalArgument(`${name}=${inner.value}`, text);
}

/** Source of a command's redirected input. */
function inputOf({ redirects }: Command | Redirected): string | undefined {
  const redirect = redirects.findLast(({ operator }) => /^(?:<|<<-?|<<<|<>|<&)$/.test(operator));
  if (!redirect) return undefined;
  if (redirect.type === "Redirect") return redirect.target?.text ?? "its input";
  return "the text behind it";
}

/** The text that a command reads, where it stands in the line without anything to be filled in. */
function heredocOf({ redirects }: Command): string | undefined {
  const redirect = redirects.findLast(({ operator }) => /^<<?[<-]?$/.test(operator));
  if (redirect?.type === "HereDoc") {
    const { body, delimiter } = redirect;
    const isLiteral = delimiter?.quoted === true || !/[$`\\]/.test(body.text);
    return isLiteral ? (redirect.operator === "<<-" ? body.text.replaceAll(/^\t+/gm, "") : body.text) : undefined;
  }
  if (redirect?.type !== "HereString" || !redirect.target) return undefined;
  const [argument, ...others] = readArguments(redirect.target);
  return others.length === 0 ? argument?.value : undefined;
}
