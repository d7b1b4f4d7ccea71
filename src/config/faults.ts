import type * as z from "zod";

import { hintFor, nearest } from "../lib/text/nearest.ts";

/** One thing that is wrong with a configuration, and where: `models.routes.main[0]`. */
export interface ConfigFault {
  readonly path: string;
  readonly detail: string;
  readonly fix?: string | undefined;
}

/** Zod's message for a union without a matching branch and without a custom message. */
const unexplained = "Invalid input";

/** `["models", "routes", "main", 0]` → `models.routes.main[0]` */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[\w-]+$/.test(String(part))) text += text === "" ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text;
}

/**
 * Says in our words what the schema found; unknown keys come with the known one that is most alike. `input` is what was
 * written, before variables were filled in: their values may be secrets and are never shown. `schema` gives the JSON
 * Schema, which is only asked for when a key is unknown.
 */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  schema: () => JsonSchema,
): ConfigFault[] {
  const faults = issues.flatMap((issue) => describeIssue(issue, input, schema));
  // An unknown key is usually the misspelt form of a missing one: say that first.
  return [...faults.filter((fault) => fault.detail.startsWith("unknown")), ...faults].filter(
    (fault, index, all) =>
      all.findIndex((other) => other.path === fault.path && other.detail === fault.detail) === index,
  );
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown, schema: () => JsonSchema): ConfigFault[] {
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(schema(), issue.path, input);
    return issue.keys.map((key) => unknownKey([...issue.path, key], key, known));
  }
  const meant = meantBranch(issue);
  if (meant !== undefined) {
    return meant.flatMap((inner) => describeIssue({ ...inner, path: [...issue.path, ...inner.path] }, input, schema));
  }
  return [{ path: formatPath(issue.path), detail: describeValue(issue, valueAt(input, issue.path)) }];
}

/** The intended branch of a union: faults inside it show that its frame fits, and it has most of the keys. */
function meantBranch(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] | undefined {
  if (issue.code !== "invalid_union" || issue.message !== unexplained) return undefined;
  const inside = issue.errors.filter((inner) =>
    inner.every(({ path, code }) => path.length > 0 || code === "unrecognized_keys" || code === "custom"),
  );
  return inside.toSorted((one, other) => unknownKeys(one) - unknownKeys(other))[0];
}

function unknownKeys(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 0), 0);
}

function describeValue(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      return wrongType(issue.expected, value);
    case "invalid_value":
      return wrongValue(issue.values, value);
    case "invalid_union":
      return wrongKind(issue, value);
    case "invalid_key":
      return `is not a valid name: ${issue.issues.map((inner) => inner.message).join("; ")}`;
    case "too_small":
      return bound(issue.origin, atLeast(issue), Number(issue.minimum));
    case "too_big":
      return bound(issue.origin, "at most", Number(issue.maximum));
    case "invalid_format":
      return wrongFormat(issue, value);
    case "unrecognized_keys":
    case "not_multiple_of":
    case "invalid_element":
    case "custom":
      break;
  }
  return issue.message;
}

function unknownKey(path: readonly PropertyKey[], key: string, known: readonly string[]): ConfigFault {
  const hint = hintFor(key, known, `known here: ${known.join(", ")}`);
  return { path: formatPath(path), detail: `unknown key; ${hint}` };
}

function wrongType(expected: string, value: unknown): string {
  if (value === undefined) return "is missing";
  return `must be ${nounOf(expected)}, not ${show(value)}`;
}

function nounOf(expected: string): string {
  const nouns: Record<string, string> = {
    object: "a list of keys and values",
    record: "a list of keys and values",
    array: "a list",
    string: "text",
    int: "a whole number",
    number: "a number",
    boolean: "true or false",
  };
  return nouns[expected] ?? expected;
}

function wrongKind(issue: z.core.$ZodIssueInvalidUnion, value: unknown): string {
  const options: unknown = "options" in issue ? issue.options : undefined;
  if (Array.isArray(options)) return wrongValue(options, value);
  return issue.message === unexplained ? noneFits(issue, value) : issue.message;
}

/** For a value that may be one of some words or something longer, such as `all` or a list of names. */
function noneFits({ errors }: z.core.$ZodIssueInvalidUnion, value: unknown): string {
  const words = errors.flat().flatMap((issue) => (issue.code === "invalid_value" ? issue.values : []));
  const kinds = errors.flat().flatMap((issue) => (issue.code === "invalid_type" ? [nounOf(issue.expected)] : []));
  const known = [...words, ...new Set(kinds)];
  return known.length === 0 ? "is not allowed here" : wrongValue(known, value);
}

function wrongValue(values: readonly unknown[], value: unknown): string {
  if (value === undefined) return `is missing; write ${oneOf(values)}`;
  const near = typeof value === "string" ? nearest(value, values.map(String)) : undefined;
  return `must be ${oneOf(values)}, not ${show(value)}${near === undefined ? "" : `; did you mean ${near}?`}`;
}

function wrongFormat(issue: z.core.$ZodIssueInvalidStringFormat, value: unknown): string {
  if (issue.format === "url") return `must be a URL, not ${show(value)}`;
  return issue.message.startsWith("Invalid") ? `${show(value)} is not allowed here` : issue.message;
}

function bound(origin: string, words: string, limit: number): string {
  if (origin === "string") return limit === 1 ? "must not be empty" : `must have ${words} ${limit} characters`;
  if (origin === "array") return limit === 1 ? "must not be empty" : `must have ${words} ${limit} entries`;
  return `must be ${words} ${limit}`;
}

function atLeast({ inclusive }: z.core.$ZodIssueTooSmall): string {
  return inclusive === false ? "more than" : "at least";
}

function oneOf(values: readonly unknown[]): string {
  return values.map(String).join(" or ");
}

/** Never shows long values: one of them may be a secret in the wrong place. */
function show(value: unknown): string {
  if (typeof value === "string") return value.length > 40 ? "this text" : `"${value}"`;
  if (Array.isArray(value)) return "a list";
  if (value === null) return "nothing";
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "a list of keys and values";
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** The keys that may stand in the section at this path; none for one whose keys are free, such as names of groups. */
export function knownKeys(root: JsonSchema, path: readonly PropertyKey[], input: unknown): string[] {
  let schema: JsonSchema | undefined = root;
  for (const [depth, part] of path.entries()) {
    schema = childSchema(schema, part);
    schema = chooseKind(schema, valueAt(input, path.slice(0, depth + 1)));
  }
  return Object.keys(asSchema(schema?.["properties"]) ?? {});
}

function childSchema(schema: JsonSchema | undefined, part: PropertyKey): JsonSchema | undefined {
  if (typeof part === "number") return asSchema(schema?.["items"]);
  const properties = asSchema(schema?.["properties"]);
  return asSchema(properties?.[String(part)]) ?? asSchema(schema?.["additionalProperties"]);
}

/** The form whose `kind` matches, or the one with most of the keys. */
function chooseKind(schema: JsonSchema | undefined, value: unknown): JsonSchema | undefined {
  const shapes = schema?.["anyOf"];
  if (Array.isArray(shapes)) {
    const withKeys = shapes.map(asSchema).filter((shape) => shape?.["properties"] !== undefined);
    return withKeys.toSorted((one, other) => knownOf(other, value) - knownOf(one, value))[0];
  }
  const forms = schema?.["oneOf"];
  if (!Array.isArray(forms)) return schema;
  const kind = valueAt(value, ["kind"]);
  return forms.map(asSchema).find((form) => asSchema(asSchema(form?.["properties"])?.["kind"])?.["const"] === kind);
}

/** Number of the value's keys that this form has. */
function knownOf(shape: JsonSchema | undefined, value: unknown): number {
  const properties = asSchema(shape?.["properties"]) ?? {};
  return Object.keys(asSchema(value) ?? {}).filter((key) => Object.hasOwn(properties, key)).length;
}

function asSchema(value: unknown): JsonSchema | undefined {
  return typeof value === "object" && value !== null ? (value as JsonSchema) : undefined;
}
