import type { Argument, Command, Option } from "commander";

import type { AnyCliLeaf } from "../../../operations/definition/cli-leaf.ts";
import type { AnyOperation } from "../../../operations/definition/define-operation.ts";
import { InputError } from "../../../operations/invoke.ts";
import { AppError } from "../../../lib/app-error.ts";
import type { CommandContext } from "../context.ts";
import type { Output } from "../output.ts";
import { columnsOfList, factsOf } from "./columns.ts";
import { isConfirmed, isConfirmedAtTerminal } from "../confirm.ts";
import { parametersOf, toArgument, toOption } from "./parameters.ts";
import { renderings } from "../renderings/catalog.ts";

/** An operation and one of its commands. */
interface Leaf {
  readonly operation: AnyOperation;
  readonly leaf: AnyCliLeaf;
}

/** A command that is made from an operation, and the words behind `crabpot`. */
interface MadeCommand {
  readonly words: readonly string[];
  readonly leaf: AnyCliLeaf;
}

function commandsOfOperation({ name, cli }: AnyOperation): readonly MadeCommand[] {
  const leaves = cli === "none" ? [] : [cli ?? []].flat();
  return leaves.map((leaf) => ({ words: (leaf.command ?? name.replaceAll(".", " ")).split(" "), leaf }));
}

/** The commands of an operation, also when they are written by hand, as the words behind `crabpot`. */
export function commandNamesOf(operation: AnyOperation): readonly string[] {
  if (operation.cli === undefined) return [operation.name.replaceAll(".", " ")];
  return commandsOfOperation(operation).map(({ words }) => words.join(" "));
}

/** Adds the commands of an operation that belong to this family. */
export function addOperationLeaves(family: Command, context: CommandContext, operation: AnyOperation): void {
  for (const { words, leaf } of commandsOfOperation(operation)) {
    if (words[0] !== family.name()) continue;
    const [, ...below] = words;
    const command = below.length === 0 ? family : family.command(below.join(" "));
    addOperationLeaf(command, context, { operation, leaf });
  }
}

function addOperationLeaf(command: Command, context: CommandContext, { operation, leaf }: Leaf): void {
  const { args = [], sets = {}, without = [], defaults = {} } = leaf;
  const parameters = parametersOf(operation.input).filter(({ key }) => !(key in sets) && !without.includes(key));
  const words = args.flatMap((key) => parameters.filter((parameter) => parameter.key === key));
  command.description(leaf.help ?? operation.summary).option("--json", "print one JSON object per line");
  if (operation.effect === "destroy" || operation.preview || leaf.yes) command.option("--yes", "do not ask");
  for (const word of words) command.addArgument(toArgument(word, word.key === leaf.rest) satisfies Argument);
  for (const parameter of parameters)
    if (!words.includes(parameter)) command.addOption(toOption(parameter, defaults) satisfies Option);
  command.action(async () => {
    const output = context.outputOf(command);
    const options = command.opts<Record<string, unknown>>();
    const given = parameters.map((parameter): [string, unknown] => {
      const place = words.indexOf(parameter);
      return [parameter.key, place < 0 ? options[parameter.key] : joined(command.processedArgs[place])];
    });
    const said = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    const missing = Object.keys(leaf.yes ?? {}).filter((key) => !(key in said));
    const agreed = options["yes"] === true;
    if (!agreed && missing.length > 0) throw new AppError("usage", `Add the ${missing.join(" and ")}, or --yes.`);
    const input = { ...defaults, ...(agreed && leaf.yes), ...said, ...sets };
    const parsed = operation.input.safeParse(input);
    if (!parsed.success) throw new InputError(parsed.error);
    const asked = { operation, leaf, input };
    if (agreed || (await isMeant(context, output, asked))) await carryOut(context, output, asked);
  });
}

interface Asked extends Leaf {
  readonly input: object;
}

/** True when nobody has to be asked before, or has agreed. */
async function isMeant(context: CommandContext, output: Output, { operation, input }: Asked): Promise<boolean> {
  const { effect, preview } = operation;
  if (!preview) return effect !== "destroy" || isConfirmedAtTerminal(context, output);
  const [leaf = {}] = commandsOfOperation(preview).map((made) => made.leaf);
  await carryOut(context, output, { operation: preview, leaf, input });
  return context.exitCode === 0 && isConfirmed(context, output, false);
}

/** Further words, one a line; undefined without any. */
function joined(words: unknown): unknown {
  if (!Array.isArray(words)) return words;
  return words.length === 0 ? undefined : words.join("\n");
}

/** Carries out an operation, and prints its answer as its command does. */
export async function carryOut(
  context: CommandContext,
  output: Output,
  { operation, leaf, input }: Asked,
): Promise<void> {
  const given = input as never;
  const render = async (answer: unknown): Promise<void> => {
    if (leaf.fails?.(answer as never)) context.exitCode = 1;
    await print(output, answer as object, { operation, leaf, given });
  };
  if (operation.follow !== undefined) {
    for await (const piece of context.follow(operation, given)) await render(piece);
    return;
  }
  await render(await context.call(operation, given));
}

async function print(
  output: Output,
  answer: object,
  { operation, leaf, given }: Leaf & { readonly given: never },
): Promise<void> {
  const shown = leaf.shows?.(answer as never) ?? answer;
  if (output.json) return [shown].flat().forEach((each: object) => output.object(each));
  const special = renderings[operation.name];
  if (special) return (await special())(output, answer as never, given);
  if (leaf.say) return output.line(leaf.say(answer as never, given));
  if (Array.isArray(shown)) {
    const none = leaf.none?.(given) ?? "There is nothing to show.";
    return output.items(shown as Record<string, unknown>[], columnsOfList(operation.output, leaf.table), none);
  }
  output.facts(answer, factsOf(operation.output, answer));
}
