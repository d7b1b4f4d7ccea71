import type { JsonSchema } from "../format/narrow-schema.ts";

/** Names of settings that hold secrets whatever their plugin says. */
const secretName = /key|token|secret|passw|credential/i;

/** Those of a plugin's settings that must not be seen: what it says itself, and what is called like a secret. */
export function secretsIn(schema: JsonSchema, said: readonly string[], settings: unknown): Record<string, string> {
  const known = new Set(Object.keys(schema["properties"] ?? {}));
  const values = Object.entries((settings ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    values.flatMap(([name, value]): [string, string][] =>
      known.has(name) && typeof value === "string" && (said.includes(name) || secretName.test(name))
        ? [[name, value]]
        : [],
    ),
  );
}
