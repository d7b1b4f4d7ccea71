import { contextSections, type ContextView, type EntryRange } from "../../../domain/turns/context-view.ts";
import { formatTime } from "../../../lib/time/formats.ts";
import type { Output } from "../output.ts";

export function showContextWindow(output: Output, view: ContextView): void {
  const { window, total, bySection } = view.tokens;
  output.facts(view, [
    ["session", view.session],
    ["entries", rangeOf({ from: view.first, to: view.last })],
    ...view.summaries.map(
      ({ tokens, kind, ...range }) =>
        [kind === "summary" ? "summed up" : "left out", `${rangeOf(range)}, ${tokens} tokens`] as const,
    ),
    ["shown in full", rangeOf(view.raw)],
    ["tokens", window === null ? total : `${total} of ${window}`],
    ...contextSections.map((section) => [`  ${section}`, bySection[section] || undefined] as const),
  ]);
  if (view.entries)
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
}

function rangeOf({ from, to }: EntryRange): string {
  return from > to ? "none" : `${from} to ${to}`;
}
