/**
 * Said of values for who checks them, which the host does, with words of its own for what does not fit. Models are told
 * what matters in descriptions; all of this together would be a third of what tools cost in each prompt.
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

/** No description, that there are no other properties, and the ends of what a number can be at all. */
function isUsual(key: string, value: unknown): boolean {
  if (key === "description") return value === "";
  if (key === "additionalProperties") return value === false;
  return (key === "maximum" || key === "minimum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
}
