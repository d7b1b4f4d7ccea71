import * as z from "zod";

import type { FormField } from "../../../domain/rights/form.ts";
import { plainSentence } from "../../../lib/text/plain-words.ts";

const mostFields = 20;
const mostOptions = 30;
const labelChars = 200;

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

/** Fields that must not be asked for in a chat. */
const secret =
  /passw|passphrase|passcode|secret|token|api.?key|private.?key|access.?key|credential|\bpin\b|\bcvv\b|\bcvc\b|card.?number|one.?time.?code|\biban\b|\bssn\b/i;

/** The fields of a form, or why it is not put to people, in words for the server. */
export function readForm(schema: unknown, message: string): { readonly fields: readonly FormField[] } | string {
  const parsed = form.safeParse(schema);
  if (!parsed.success) return "a form is a flat object of texts, numbers, booleans and choices";
  const { properties, required } = parsed.data;
  const entries = Object.entries(properties);
  if (entries.length > mostFields) return `a form may have ${mostFields} fields`;
  const fields = entries.map(([name, one]) => toField(name, one, required.includes(name)));
  const asksSecret = fields.some(({ name, label }) => secret.test(name) || secret.test(label)) || secret.test(message);
  return asksSecret ? "passwords, keys, cards and other secrets are never asked for here" : { fields };
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
