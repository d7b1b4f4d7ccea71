import { Option } from "commander";
import type { Command } from "commander";

import {
  toUsageLine,
  type UsageBy,
  usageKinds,
  type UsageLine,
  type UsageSum,
} from "../../../../domain/turns/usage.ts";
import { formatUsd } from "../../../../lib/text/format-usd.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { parseFirstDay } from "../../since.ts";
import { usage } from "../../../../operations/usage/operations.ts";

export function addUsageCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "usage", "show usage and cost of model calls")
    .addOption(new Option("--by <what>", "group by").choices(usageKinds).default("group"))
    .addOption(
      new Option(
        "--since <when>",
        "first day, in UTC: 1d is today, 7d the last seven days; or a date such as 2026-01-15",
      )
        .argParser(parseFirstDay)
        .default(parseFirstDay("7d"), "7d"),
    )
    .option("--group <name>", "only this group")
    .action(async ({ by, since, group }: { by: UsageBy; since: number; group?: string }, command: Command) => {
      const sums = await context.read(usage, { by, since, group });
      const output = context.outputOf(command);
      const rows = output.json
        ? sums.map((sum) => toUsageLine(by, sum))
        : [...sums.map((sum) => toRow(by, sum)), total(sums)];
      output.items(
        sums.length === 0 ? [] : rows,
        [
          { title: by, of: ({ name }) => name },
          { title: "calls", of: ({ calls }) => calls },
          { title: "tokens in", of: ({ inputTokens }) => inputTokens },
          { title: "cached", of: ({ cachedInputTokens }) => cachedInputTokens },
          { title: "tokens out", of: ({ outputTokens }) => outputTokens },
          { title: "cost", of: ({ usd }) => formatUsd(usd) },
          { title: "calls of unknown price", of: ({ unpricedCalls: calls }) => (calls > 0 ? calls : "") },
        ],
        "No model calls since then.",
      );
    });
}

type Row = Omit<UsageLine, "by">;

function toRow(by: UsageBy, { key, name, ...used }: UsageSum): Row {
  const nobody = by === "member" ? "(no member)" : by === "agent" ? "(not known)" : "";
  const shown = key === "" ? nobody : key;
  return { ...used, name: name === undefined ? shown : `${name} (${key})` };
}

function total(sums: readonly UsageSum[]): Row {
  const add = (of: (sum: UsageSum) => number): number => sums.reduce((all, sum) => all + of(sum), 0);
  return {
    name: "total",
    calls: add(({ calls }) => calls),
    inputTokens: add(({ inputTokens }) => inputTokens),
    cachedInputTokens: add((sum) => sum.cachedInputTokens),
    writtenInputTokens: add((sum) => sum.writtenInputTokens),
    outputTokens: add(({ outputTokens }) => outputTokens),
    usd: add(({ usd }) => usd),
    unpricedCalls: add(({ unpricedCalls }) => unpricedCalls),
  };
}
