import * as z from "zod";

import type { FormField } from "../../../domain/rights/form.ts";
import { asksSecret } from "./secret-words.ts";
import { plainSentence } from "../../../lib/text/plain-words.ts";

const mostFields = 20;
const mostOptions = 30;
const labelChars = 200;
/** Characters of all its words. */
const mostChars = 20_000;

const bounds = {
  title: z.string().optional(),
  description: z.string().optional(),
};
const valueName = z.string().min(1).max(100);
const titled = z
  .array(z.looseObject({ const: valueName, title: z.string().optional() }))
  .min(1)
  .max(mostOptions);
const named = z.array(valueName).min(1).max(mostOptions);
const textFormat = z.enum(["email", "uri", "date", "date-time"]).optional();
const count = z.number().int().min(0).optional();

const field = z.union([
  z.looseObject({
    ...bounds,
    type: z.literal("string"),
    enum: named,
    enumNames: z.array(z.string()).optional(),
    default: z.string().optional(),
  }),
  z.looseObject({ ...bounds, type: z.literal("string"), oneOf: titled, default: z.string().optional() }),
  z.looseObject({
    ...bounds,
    type: z.literal("string"),
    minLength: count,
    maxLength: count,
    format: textFormat,
    default: z.string().optional(),
  }),
  z.looseObject({
    ...bounds,
    type: z.enum(["number", "integer"]),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    default: z.number().optional(),
  }),
  z.looseObject({ ...bounds, type: z.literal("boolean"), default: z.boolean().optional() }),
  z.looseObject({
    ...bounds,
    type: z.literal("array"),
    items: z.union([z.looseObject({ enum: named }), z.looseObject({ anyOf: titled })]),
    minItems: count,
    maxItems: count,
    default: z.array(z.string()).optional(),
  }),
]);

const form = z.looseObject({
  type: z.literal("object"),
  properties: z.record(z.string().regex(/^[A-Za-z][\w.-]{0,63}$/), field).default({}),
  required: z.array(z.string()).default([]),
});

type Field = z.output<typeof field>;

/** Values of a number without `forms: text`: less than a code of four digits has. */
const mostValues = 1_000;
/** Together, of numbers and of choices such as digits: what codes could be put together from. */
const mostTogether = 5_000;
/** Options as short as this spell something. */
const spelledChars = 2;

/**
 * The fields of a form, or why it is not put to people, in words for the server. `mayAskText`: the operator allows it
 * texts and numbers of any size.
 */
export function readForm(
  schema: unknown,
  { message, mayAskText }: { readonly message: string; readonly mayAskText: boolean },
): { readonly fields: readonly FormField[] } | string {
  const parsed = form.safeParse(schema);
  if (!parsed.success) return "a form is a flat object of texts, numbers, booleans and choices";
  const { properties, required } = parsed.data;
  const entries = Object.entries(properties);
  if (entries.length > mostFields) return `a form may have ${mostFields} fields`;
  const words = [message, ...entries.flatMap(wordsOf)];
  if (words.join("").length > mostChars) return `a form may have ${mostChars} characters`;
  if (words.some(asksSecret)) return "passwords, keys, cards and other secrets are never asked for here";
  const fields = entries.map(([name, one]) => toField(name, one, required.includes(name)));
  return (mayAskText ? undefined : openFault(fields)) ?? { fields };
}

/** All that people would read of a field. */
function wordsOf([name, one]: readonly [string, Field]): readonly string[] {
  return [name, ...textsIn(one)];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Returns why fields could take what only a person knows. */
function openFault(fields: readonly FormField[]): string | undefined {
  const text = fields.find(({ kind, format }) => kind === "text" && format !== "date" && format !== "date-time");
  if (text)
    return (
      `${text.name}: texts are not asked for here, only choices, numbers, dates and booleans; ` +
      "the operator can allow texts with forms: text"
    );
  const wide = fields.find((one) => isNumber(one) && valuesOf(one) > mostValues);
  if (wide)
    return `${wide.name}: a number needs a minimum and a maximum with at most ${mostValues} values between them`;
  const together = fields.reduce((product, one) => product * valuesOf(one), 1);
  return together > mostTogether ? "its numbers and short choices together could take a code" : undefined;
}

function isNumber({ kind }: FormField): boolean {
  return kind === "number" || kind === "integer";
}

/** Number of answers that a field can take, as far as they could be parts of a code. */
function valuesOf({ kind, options = [], least = -Infinity, most = Infinity }: FormField): number {
  if (kind === "number") return (most - least) * 100 + 1;
  if (kind === "integer") return most - least + 1;
  const spells = options.some(({ value, label }) => [value, label].some((word) => isSpelled(word)));
  if (!spells) return 1;
  return kind === "choices" ? 2 ** options.length : options.length;
}

function isSpelled(word: string): boolean {
  return word !== "" && Array.from(word).length <= spelledChars;
}

function toField(name: string, one: Field, required: boolean): FormField {
  const label = [one.title, one.description].filter((text) => text !== undefined && text !== "").join(": ");
  const common = { name, label: plainSentence(label).slice(0, labelChars), required };
  if (one.type === "boolean") return { ...common, kind: "boolean", default: one.default };
  if (one.type === "number" || one.type === "integer")
    return { ...common, kind: one.type, default: one.default, least: one.minimum, most: one.maximum };
  if (one.type === "array") {
    const options = optionsOf(one.items);
    return { ...common, kind: "choices", options, default: one.default, least: one.minItems, most: one.maxItems };
  }
  const options = optionsOf(one);
  if (options) return { ...common, kind: "choice", options, default: one.default };
  const { least, most, format } = textBounds.parse(one);
  return { ...common, kind: "text", default: one.default, least, most, format };
}

const textBounds = z
  .looseObject({ minLength: count, maxLength: count, format: textFormat })
  .transform(({ minLength: least, maxLength: most, format }) => ({ least, most, format }));

/** Titles stand beside the values in one of two ways. */
const choice = z.union([
  z
    .looseObject({ enum: named, enumNames: z.array(z.string()).default([]) })
    .transform(({ enum: values, enumNames }) => values.map((value, index) => toOption(value, enumNames[index]))),
  z.looseObject({ oneOf: titled }).transform(({ oneOf }) => oneOf.map((one) => toOption(one.const, one.title))),
  z.looseObject({ anyOf: titled }).transform(({ anyOf }) => anyOf.map((one) => toOption(one.const, one.title))),
]);

function optionsOf(one: unknown): FormField["options"] {
  return choice.safeParse(one).data;
}

function toOption(value: string, label = ""): { readonly value: string; readonly label: string } {
  return { value, label: plainSentence(label).slice(0, labelChars) };
}
