/**
 * JSON of a value in which the order of keys is no difference: equal values have equal texts. A value that JSON cannot
 * hold is `null`.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value ?? null));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  // A key such as `__proto__` is one like all others.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, inner] of entries) copy[key] = sorted(inner);
  return copy;
}
