/** Parses JSON from outside; undefined when invalid, which JSON cannot be. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The reviver's third argument is not in the types yet: https://github.com/tc39/proposal-json-parse-with-source */
const parseWithSource = JSON.parse as (
  text: string,
  revive: (key: string, value: unknown, context: { readonly source: string }) => unknown,
) => unknown;

/**
 * Parses JSON; numbers that JavaScript cannot hold, such as ids of more than 15 digits, become the text that stands
 * there. Undefined when invalid.
 */
export function parseExactJson(text: string): unknown {
  try {
    return parseWithSource(text, (_key, value, { source }) => {
      const isHeld = typeof value !== "number" || Number.isSafeInteger(value) || isFraction(value);
      return isHeld ? value : source;
    });
  } catch {
    return undefined;
  }
}

/** True for an object with keys: neither a list nor `null`. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFraction(value: number): boolean {
  return Number.isFinite(value) && !Number.isInteger(value);
}
