import { Argument, InvalidArgumentError, Option } from "commander";
import * as z from "zod";

/** A parameter of an operation, as the command line needs to know it. */
export interface Parameter {
  readonly key: string;
  readonly help: string;
  readonly isRequired: boolean;
  readonly isFlag: boolean;
  readonly schema: z.ZodType;
  /** Its schema without what makes it optional. */
  readonly core: z.ZodType;
}

/** The parameters of an operation, in the order of its definition. */
export function parametersOf(input: z.ZodType): readonly Parameter[] {
  if (!(input instanceof z.ZodObject)) return [];
  return Object.entries(input.shape as Record<string, z.ZodType>).map(([key, schema]) => {
    const { core, description = "" } = coreOf(schema);
    return {
      key,
      schema,
      core,
      help: description,
      isRequired: !schema.safeParse(undefined).success,
      isFlag: isFlag(core),
    };
  });
}

/** A schema without what makes it optional, and the description that is nearest to the outside. */
export function coreOf(schema: z.ZodType): { readonly core: z.ZodType; readonly description: string | undefined } {
  let [core, description] = [schema, schema.description];
  while (core instanceof z.ZodOptional || core instanceof z.ZodDefault || core instanceof z.ZodNullable) {
    core = core.unwrap() as z.ZodType;
    description ??= core.description;
  }
  return { core, description };
}

/** The parameter as an option: `--exit-code <count>`. */
export function toOption(parameter: Parameter, defaults: object = {}): Option {
  const { key, help, isRequired, isFlag: takesNothing, schema, core } = parameter;
  const name = `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (takesNothing) return new Option(name, help);
  const option = new Option(`${name} <${placeholderOf(parameter)}>`, help).argParser(checked(schema));
  if (core instanceof z.ZodEnum) option.choices(core.options.map(String));
  const usual = key in defaults ? (defaults as Record<string, unknown>)[key] : usualOf(schema);
  if (usual !== undefined) option.default(usual);
  return option.makeOptionMandatory(isRequired);
}

function usualOf(schema: z.ZodType): unknown {
  return schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
}

/** The parameter as a word without an option: `<id>`, or `[id]` where it may be left out; `[id...]` takes many. */
export function toArgument({ key, help, isRequired, schema }: Parameter, isRest = false): Argument {
  const name = isRest ? `${key}...` : key;
  const argument = new Argument(isRequired ? `<${name}>` : `[${name}]`, help);
  return isRest ? argument : argument.argParser(checked(schema));
}

function placeholderOf({ key, core }: Parameter): string {
  if (key === "group") return "name";
  return core instanceof z.ZodNumber ? "count" : key;
}

/** Refuses a word that does not fit; the operation reads it. */
function checked(schema: z.ZodType): (text: string) => string {
  return (text) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return text;
    throw new InvalidArgumentError(`${parsed.error.issues.map(({ message }) => message).join("; ")}.`);
  };
}

function isFlag(core: z.ZodType): boolean {
  return core instanceof z.ZodBoolean || (core instanceof z.ZodUnion && core.options[0] instanceof z.ZodBoolean);
}
