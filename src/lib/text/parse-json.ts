/** Parses JSON from outside; undefined when invalid, which JSON cannot be. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
