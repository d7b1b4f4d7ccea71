/**
 * Schema keywords that only the host checks, with its own messages. Models learn what matters from descriptions; these
 * would be a third of the tools' cost in each prompt.
 */
const keptByHost: ReadonlySet<string> = new Set([
  "$schema",
  "maxItems",
  "maxLength",
  "minItems",
  "minLength",
  "pattern",
]);

/** A JSON schema as models are shown it. What the caller calls its properties is no keyword. */
export function slimSchema(schema: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
      if (keptByHost.has(key) || isUsual(key, value)) return [];
      if (key === "properties") return [[key, mapValues(value as object)]];
      return [[key, slimValue(value)]];
    }),
  );
}

function mapValues(properties: object): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]: [string, unknown]) => [name, slimValue(schema)]),
  );
}

function slimValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(slimValue);
  return typeof value === "object" && value !== null ? slimSchema(value) : value;
}

/** True for defaults: no description, no additional properties, and the full range of numbers. */
function isUsual(key: string, value: unknown): boolean {
  if (key === "description") return value === "";
  if (key === "additionalProperties") return value === false;
  return (key === "maximum" || key === "minimum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
}
