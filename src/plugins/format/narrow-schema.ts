import * as z from "zod";

/** A JSON Schema, as far as the host reads it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const maxDepth = 12;
const maxNodes = 2_000;
const maxTextChars = 4_000;

/**
 * Checked schema keywords. Patterns and formats are not: a plugin's regular expression could block the host for
 * minutes.
 */
const kept: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "const",
  "default",
  "description",
  "required",
  "additionalProperties",
  "properties",
  "items",
  "prefixItems",
  "anyOf",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
]);

const refused: ReadonlySet<string> = new Set(["$ref", "$defs", "definitions", "$dynamicRef"]);

/**
 * A plugin's schema, without what the host will not check: the plugin itself checks all of it again. Throws an Error
 * that says what is wrong with one that cannot be used: it is no object's, refers to others, or is too large.
 */
export function narrowSchema(schema: unknown): JsonSchema {
  const budget = { nodes: maxNodes };
  const narrowed = narrow(schema, budget, 0);
  if (typeof narrowed !== "object" || narrowed["type"] !== "object")
    throw new Error("it is not the schema of an object");
  return { properties: {}, ...narrowed, additionalProperties: false };
}

function narrow(schema: unknown, budget: { nodes: number }, depth: number): JsonSchema {
  budget.nodes -= 1;
  if (budget.nodes < 0 || depth > maxDepth) throw new Error(`it has more than ${maxNodes} parts or ${maxDepth} levels`);
  if (typeof schema === "boolean") return {};
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new Error("a part of it is no schema");
  const entries: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (refused.has(keyword)) throw new Error(`it uses ${keyword}; write the parts out`);
    const name = keyword === "oneOf" ? "anyOf" : keyword;
    if (kept.has(name)) entries.push([name, narrowKeyword(name, value, { budget, depth })]);
  }
  return Object.fromEntries(entries);
}

interface Place {
  readonly budget: { nodes: number };
  readonly depth: number;
}

function narrowKeyword(name: string, value: unknown, { budget, depth }: Place): unknown {
  const inner = (each: unknown): JsonSchema => narrow(each, budget, depth + 1);
  if (name === "properties") return narrowProperties(value, inner);
  if (name === "items") return inner(value);
  if (name === "additionalProperties") return typeof value === "boolean" ? value : inner(value);
  if (name === "anyOf" || name === "prefixItems") return listOf(value).map(inner);
  if (JSON.stringify(value).length > maxTextChars) throw new Error(`${name} is longer than ${maxTextChars} characters`);
  return value;
}

function narrowProperties(value: unknown, inner: (each: unknown) => JsonSchema): unknown {
  if (typeof value !== "object" || value === null) throw new Error("its properties are no object");
  for (const name of Object.keys(value))
    if (!/^[\w-]{1,64}$/.test(name)) throw new Error(`a property is called ${JSON.stringify(name)}`);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]));
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error("a list in it is no list");
  return value;
}

/** Makes a validator of a narrowed schema. Throws when impossible. */
export function validatorOf(schema: JsonSchema): z.ZodObject {
  const made = z.fromJSONSchema(schema);
  if (made instanceof z.ZodObject) return made.strict();
  throw new Error("it is not the schema of an object");
}
