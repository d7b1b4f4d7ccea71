import type { Argument, Command, Option } from "commander";

import type { AnyCliLeaf } from "../../../operations/definition/cli-leaf.ts";
import type { AnyOperation } from "../../../operations/definition/define-operation.ts";
import { InputError } from "../../../operations/invoke.ts";
import type { CommandContext } from "../context.ts";
import type { Output } from "../output.ts";
import { columnsOfList, factsOf } from "./columns.ts";
import { isConfirmedAtTerminal } from "../confirm.ts";
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
  const { args = [], sets = {}, without = [] } = leaf;
  const parameters = parametersOf(operation.input).filter(({ key }) => !(key in sets) && !without.includes(key));
  const words = args.flatMap((key) => parameters.filter((parameter) => parameter.key === key));
  command.description(leaf.help ?? operation.summary).option("--json", "print one JSON object per line");
  if (operation.effect === "destroy") command.option("--yes", "do not ask at a terminal");
  for (const word of words) command.addArgument(toArgument(word) satisfies Argument);
  for (const parameter of parameters)
    if (!words.includes(parameter)) command.addOption(toOption(parameter) satisfies Option);
  command.action(async () => {
    const output = context.outputOf(command);
    const options = command.opts<Record<string, unknown>>();
    const given = parameters.map((parameter): [string, unknown] => {
      const place = words.indexOf(parameter);
      return [parameter.key, place < 0 ? options[parameter.key] : command.processedArgs[place]];
    });
    const input = { ...Object.fromEntries(given.filter(([, value]) => value !== undefined)), ...sets };
    const parsed = operation.input.safeParse(input);
    if (!parsed.success) throw new InputError(parsed.error);
    if (operation.effect === "destroy" && options["yes"] !== true && !(await isConfirmedAtTerminal(context, output)))
      return;
    await carryOut(context, output, { operation, leaf, input });
  });
}

async function carryOut(
  context: CommandContext,
  output: Output,
  { operation, leaf, input }: Leaf & { readonly input: object },
): Promise<void> {
  const given = input as never;
  const render = async (answer: unknown): Promise<void> => {
    if (leaf.fails?.(answer as never)) context.exitCode = 1;
    await print(output, answer as object, { operation, leaf, given });
  };
  if (operation.follow !== undefined) {
    for await (const piece of context.host.follow(operation, given)) await render(piece);
    return;
  }
  await render(await (operation.offline ? context.read(operation as never, given) : context.call(operation, given)));
}

async function print(
  output: Output,
  answer: object,
  { operation, leaf, given }: Leaf & { readonly given: never },
): Promise<void> {
  if (output.json) return [answer].flat().forEach((each: object) => output.object(each));
  const special = renderings[operation.name];
  if (special) return (await special())(output, answer as never, given);
  if (leaf.say) return output.line(leaf.say(answer as never, given));
  if (Array.isArray(answer)) {
    const none = leaf.none?.(given) ?? "There is nothing to show.";
    return output.items(answer as Record<string, unknown>[], columnsOfList(operation.output, leaf.table), none);
  }
  output.facts(answer, factsOf(operation.output, answer));
}
