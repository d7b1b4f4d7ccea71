import { userOf } from "../jids.ts";

/**
 * `@Ann` → `@4915…` for members whose name is known, with the ids that the platform wants to be told beside the text.
 * Not in code. `members`: ids by name in lower case.
 */
export function withMentions(
  text: string,
  members: ReadonlyMap<string, string>,
): { readonly text: string; readonly mentions: readonly string[] } {
  const names = [...members.keys()].toSorted((one, other) => other.length - one.length);
  if (names.length === 0 || !text.includes("@")) return { text, mentions: [] };
  const named = new RegExp(
    `(?<![\\p{L}\\p{N}_@.])@(${names.map((name) => RegExp.escape(name)).join("|")})(?![\\p{L}\\p{N}_])`,
    "giu",
  );
  const mentions = new Set<string>();
  const parts = text.split(/(```[\s\S]*?```|`[^`\n]+`)/);
  const written = parts.map((part, index) => {
    if (index % 2 === 1) return part;
    return part.replaceAll(named, (found, name: string) => {
      const id = members.get(name.toLowerCase());
      if (id === undefined) return found;
      mentions.add(id);
      return `@${userOf(id)}`;
    });
  });
  return { text: written.join(""), mentions: [...mentions] };
}
