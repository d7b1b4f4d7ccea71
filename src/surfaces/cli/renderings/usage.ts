import type { UsageLine } from "../../../domain/turns/usage.ts";
import { formatUsd } from "../../../lib/text/format-usd.ts";
import type { Output } from "../output.ts";

type Row = Omit<UsageLine, "by">;

export function showUsage(output: Output, { costs }: { readonly costs: readonly UsageLine[] }): void {
  output.items(
    costs.length === 0 ? [] : [...costs.map((line) => ({ ...line, name: nameOf(line) })), totalOf(costs)],
    [
      { title: costs[0]?.by ?? "", of: ({ name }) => name },
      { title: "calls", of: ({ calls }) => calls },
      { title: "tokens in", of: ({ inputTokens }) => inputTokens },
      { title: "cached", of: ({ cachedInputTokens }) => cachedInputTokens },
      { title: "tokens out", of: ({ outputTokens }) => outputTokens },
      { title: "cost", of: ({ usd }) => formatUsd(usd) },
      { title: "calls of unknown price", of: ({ unpricedCalls: calls }) => (calls > 0 ? calls : "") },
    ],
    "No model calls since then.",
  );
}

function nameOf({ by, id, name }: UsageLine): string {
  if (name === "") return by === "member" ? "(no member)" : by === "agent" ? "(not known)" : "";
  return id === undefined || id === name ? name : `${name} (${id})`;
}

function totalOf(costs: readonly UsageLine[]): Row {
  const add = (of: (line: UsageLine) => number): number => costs.reduce((all, line) => all + of(line), 0);
  return {
    name: "total",
    calls: add(({ calls }) => calls),
    inputTokens: add(({ inputTokens }) => inputTokens),
    cachedInputTokens: add((line) => line.cachedInputTokens),
    writtenInputTokens: add((line) => line.writtenInputTokens),
    outputTokens: add(({ outputTokens }) => outputTokens),
    usd: add(({ usd }) => usd),
    unpricedCalls: add(({ unpricedCalls }) => unpricedCalls),
  };
}
