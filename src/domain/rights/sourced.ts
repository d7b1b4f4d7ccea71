import { type Origin, sortOrigins } from "../people/origin.ts";

declare const hasOrigins: unique symbol;

/** Text for a model with the origins of its words; a plain string is none. Made by `sourced`, `ofHost` and `joined`. */
export interface Sourced {
  readonly text: string;
  readonly origins: readonly Origin[];
  readonly [hasOrigins]: true;
}

/**
 * Text with its origins. None: it is the host's own, or only repeats what the turn itself has said, or what its
 * conversation was shown before.
 */
export function sourced(text: string, origins: readonly Origin[]): Sourced {
  return { text, origins: sortOrigins(origins) } as Sourced;
}

/** Words of the host as they stand in its code, around numbers and texts that say where they come from. */
export function ofHost(words: TemplateStringsArray, ...values: readonly (Sourced | number)[]): Sourced {
  const texts = values.map((value) => (typeof value === "number" ? sourced(String(value), []) : value));
  const pieces = words.flatMap((word, index) => [word, texts[index]?.text ?? ""]);
  return sourced(
    pieces.join(""),
    texts.flatMap(({ origins }) => origins),
  );
}

/** All of them as one text, with the origins of all. */
export function joined(texts: readonly Sourced[], separator: string): Sourced {
  return sourced(
    texts.map(({ text }) => text).join(separator),
    texts.flatMap(({ origins }) => origins),
  );
}
