import type { Command } from "commander";

import { contextSections, type EntryRange } from "../../../domain/turns/context-view.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { showContext } from "../../../operations/contexts/operations.ts";

export function addContextCommand(program: Command, context: CommandContext): void {
  const shown = program.command("context").description("what stands in the prompts of conversations");

  addLeaf(shown, "show", "what is shown of a group's conversation, what is summed up, and what takes how many tokens")
    .requiredOption("--group <name>", "the group")
    .option("--session <session>", "another session than its main one, by id or key")
    .option("--raw", "list all entries of the log")
    .action(async (given: { group: string; session?: string; raw?: true }, command: Command) => {
      const view = await context.read(showContext, given);
      const output = context.outputOf(command);
      const { window, total, bySection } = view.tokens;
      output.facts(view, [
        ["session", view.session],
        ["entries", rangeOf({ from: view.first, to: view.last })],
        ...view.summaries.map(
          ({ tokens, kind, ...range }) =>
            [kind === "summary" ? "summed up" : "left out", `${rangeOf(range)}, ${tokens} tokens`] as const,
        ),
        ["shown as they are", rangeOf(view.raw)],
        ["tokens", window === null ? total : `${total} of ${window}`],
        ...contextSections.map((section) => [`  ${section}`, bySection[section] || undefined] as const),
      ]);
      if (view.entries && !output.json)
        output.items(
          view.entries,
          [
            { title: "entry", of: ({ entry }) => entry },
            { title: "at", of: ({ at }) => formatTime(at) },
            { title: "kind", of: ({ kind }) => kind },
            { title: "tokens", of: ({ tokens }) => tokens },
            { title: "turn", of: ({ turn }) => turn },
          ],
          "The log is empty.",
        );
    });
}

function rangeOf({ from, to }: EntryRange): string {
  return from > to ? "none" : `${from} to ${to}`;
}
