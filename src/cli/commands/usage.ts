import { Option } from "commander";
import type { Command } from "commander";

import type { UsageBy, UsageSum } from "../../domain/usage.ts";
import { formatUsd } from "../../lib/text/format-usd.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { parseFirstDay } from "../since.ts";

const kinds: readonly UsageBy[] = ["group", "member", "model", "day"];

export function addUsageCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "usage", "what model calls have used and cost")
    .addOption(new Option("--by <what>", "added up by what").choices(kinds).default("group"))
    .addOption(
      new Option(
        "--since <when>",
        "the first day, in UTC: 1d is today, 7d the last seven days; or a date such as 2026-01-15",
      )
        .argParser(parseFirstDay)
        .default(parseFirstDay("7d"), "7d"),
    )
    .action(async ({ by, since }: { by: UsageBy; since: number }, command: Command) => {
      const sums = await context.read((host) => host.usage(by, since));
      const output = context.outputOf(command);
      const rows = output.json
        ? sums.map((sum) => toJson(by, sum))
        : [...sums.map((sum) => toRow(by, sum)), total(sums)];
      output.items(
        sums.length === 0 ? [] : rows,
        [
          { title: by, of: ({ name }) => name },
          { title: "calls", of: ({ calls }) => calls },
          { title: "tokens in", of: ({ inputTokens }) => inputTokens },
          { title: "tokens out", of: ({ outputTokens }) => outputTokens },
          { title: "cost", of: ({ usd }) => formatUsd(usd) },
          { title: "calls of unknown price", of: ({ unpricedCalls: calls }) => (calls > 0 ? calls : "") },
        ],
        "No model has been asked since then.",
      );
    });
}

type Row = Omit<UsageSum, "key" | "name"> & { readonly id?: string; readonly name: string };

function toJson(by: UsageBy, { key, name, ...used }: UsageSum): Row & { readonly by: UsageBy } {
  return { by, ...(by === "member" && { id: key }), name: name ?? key, ...used };
}

function toRow(by: UsageBy, { key, name, ...used }: UsageSum): Row {
  const shown = by === "member" && key === "" ? "(no member)" : key;
  return { ...used, name: name === undefined ? shown : `${name} (${key})` };
}

function total(sums: readonly UsageSum[]): Row {
  const add = (of: (sum: UsageSum) => number): number => sums.reduce((all, sum) => all + of(sum), 0);
  return {
    name: "total",
    calls: add(({ calls }) => calls),
    inputTokens: add(({ inputTokens }) => inputTokens),
    outputTokens: add(({ outputTokens }) => outputTokens),
    usd: add(({ usd }) => usd),
    unpricedCalls: add(({ unpricedCalls }) => unpricedCalls),
  };
}
