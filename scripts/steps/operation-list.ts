import type { AnyOperation } from "../../src/operations/definition/define-operation.ts";
import { commandNamesOf } from "../../src/surfaces/cli/leaves/operation-leaf.ts";
import { loadOperations } from "../../src/surfaces/operations.ts";

const begin = "<!-- operations: written by scripts/list-operations.ts -->";
const end = "<!-- end of operations -->";

/** All operations as a table in Markdown, by name. */
export async function describeOperationList(): Promise<string> {
  const operations: readonly AnyOperation[] = await loadOperations();
  const rows = operations
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((operation) => {
      const { name, summary, effect, rest, chat } = operation;
      const commands = commandNamesOf(operation).map((words) => `\`crabpot ${words}\``);
      const path = rest?.replace(" /", " /v1/");
      return [
        `\`${name}\``,
        summary,
        effect === "none" ? "" : effect,
        commands.join(", "),
        path ? `\`${path}\`` : "",
        [chat ?? []]
          .flat()
          .map(({ form }) => `\`${form}\``)
          .join(", "),
      ];
    });
  const head = ["operation", "what it does", "effect", "command", "HTTP", "chat"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Returns the page with its list replaced by this one. */
export function replaceOperationList(page: string, list: string): string {
  const [before, rest = ""] = page.split(begin);
  const [, after] = rest.split(end);
  if (after === undefined) throw new Error(`The page lacks ${begin} or ${end}.`);
  return `${before}${begin}\n\n${list}\n\n${end}${after}`;
}
