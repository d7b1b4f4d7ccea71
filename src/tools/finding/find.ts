import { joined, ofHost, type Sourced, sourced } from "../../domain/rights/sourced.ts";
import type { OfferedTool } from "../../domain/turns/model.ts";

const mostFound = 10;
const shownChars = 24_000;

/** The tools that a query fits best, each with what it takes; for a model. */
export function describeFound(query: string, tools: readonly OfferedTool[]): Sourced {
  const words = wordsOf(query);
  const found = tools
    .map((tool) => ({ tool, score: scoreOf(tool, query, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score);
  if (found.length === 0)
    return ofHost`No tool of ${tools.length} fits ${sourced(JSON.stringify(query), [])}. Some are: ${joined(
      tools.slice(0, mostFound).map(({ name, origins }) => sourced(name, origins)),
      ", ",
    )}. Try other words.`;
  const lines: Sourced[] = [];
  let chars = 0;
  for (const { tool } of found.slice(0, mostFound)) {
    const line = JSON.stringify({ name: tool.name, description: tool.description, input: tool.inputSchema });
    if (chars + line.length > shownChars) break;
    chars += line.length;
    lines.push(sourced(line, tool.origins));
  }
  const left = found.length - lines.length;
  return joined([...lines, ...(left > 0 ? [ofHost`[${left} more fit; ask for something narrower]`] : [])], "\n");
}

/** A word in the name says more than one in the description. */
function scoreOf({ name, description }: OfferedTool, query: string, words: readonly string[]): number {
  if (name === query.trim()) return 1_000;
  const [inName, inDescription] = [wordsOf(name), wordsOf(description)];
  return words.reduce((sum, word) => sum + (has(inName, word) ? 3 : 0) + (has(inDescription, word) ? 1 : 0), 0);
}

function has(all: readonly string[], word: string): boolean {
  return all.some((one) => one.startsWith(word) || word === `${one}s`);
}

function wordsOf(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
