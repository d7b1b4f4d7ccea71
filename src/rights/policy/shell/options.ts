import type { Argument } from "./arguments.ts";
import type { CommandFacts, Raise } from "./known-commands.ts";
import { literalArgument } from "./arguments.ts";

export interface GivenOption {
  /** `-o` or `--output`; several letters behind one dash are given one by one, and as a whole before them. */
  readonly name: string;
  readonly value: Argument | undefined;
}

/** The arguments of a command, as far as it is known what they are. */
export interface Options {
  readonly given: readonly GivenOption[];
  readonly operands: readonly Argument[];
  /** Options may come out of them that cannot be seen now. */
  readonly isUnsure: boolean;
}

/**
 * `values`: options whose value is the next word. `untilOperand`: after the first operand, everything is an operand.
 */
export function readOptions(
  args: readonly Argument[],
  { values = [] }: Pick<CommandFacts, "values">,
  untilOperand = false,
): Options {
  const given: GivenOption[] = [];
  const operands: Argument[] = [];
  let isUnsure = false;
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index];
    if (argument === undefined) break;
    const { value, beginning } = argument;
    if (value === "--") return { given, operands: [...operands, ...args.slice(index + 1)], isUnsure };
    if (argument.mayBeOption) isUnsure = true;
    if (/^-./.test(beginning)) {
      if (readOption(argument, values, given, args[index + 1])) index += 1;
    } else if (untilOperand) {
      return { given, operands: args.slice(index), isUnsure };
    } else operands.push(argument);
  }
  return { given, operands, isUnsure };
}

/** True when the next word was taken as its value. */
function readOption(
  { beginning, value }: Argument,
  values: readonly string[],
  given: GivenOption[],
  next: Argument | undefined,
): boolean {
  const text = value ?? beginning;
  const [name = "", ...rest] = text.split("=");
  const known = rest.length > 0 && value !== undefined ? literalArgument(rest.join("=")) : undefined;
  if (name.startsWith("--")) {
    const takesNext = rest.length === 0 && values.includes(name);
    given.push({ name, value: takesNext ? next : known });
    return takesNext;
  }
  if (text.length > 2) given.push({ name, value: known });
  for (let at = 1; at < text.length; at += 1) {
    const letter = `-${text[at]}`;
    if (!values.includes(letter)) given.push({ name: letter, value: undefined });
    else {
      const attached = text.slice(at + 1);
      given.push({ name: letter, value: attached === "" ? next : literalArgument(attached) });
      return attached === "";
    }
  }
  return false;
}

export function has({ given }: Pick<Options, "given">, names: readonly string[]): boolean {
  return given.some(({ name }) => names.includes(name));
}

/** The values that were given to any of these options. */
export function valuesOf({ given }: Pick<Options, "given">, names: readonly string[]): readonly Argument[] {
  return given.flatMap(({ name, value }) => (value !== undefined && names.includes(name) ? [value] : []));
}

/** True when one of its options is given. Long ones may be abbreviated, as most programs allow. */
export function isRaised({ given }: Pick<Options, "given">, { options }: Raise): boolean {
  return given.some(({ name }) =>
    options.some((option) => option === name || (/^--./.test(name) && option.startsWith(name))),
  );
}
