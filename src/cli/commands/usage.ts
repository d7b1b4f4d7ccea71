import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";

import type { UsageBy, UsageSum } from "../../domain/usage.ts";
import { formatUsd } from "../../lib/text/format-usd.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";

const dayMs = 86_400_000;
const kinds: readonly UsageBy[] = ["group", "member", "model", "day"];

export function addUsageCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "usage", "what model calls have used and cost")
    .addOption(new Option("--by <what>", "added up by what").choices(kinds).default("group"))
    .option(
      "--since <when>",
      "from then on, in whole days (UTC): 7d, or a date such as 2026-01-15",
      parseSince,
      weekAgo(),
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

/** Today and the six days before it. */
function weekAgo(): number {
  return Date.now() - 6 * dayMs;
}

function parseSince(text: string): number {
  const days = /^([1-9]\d{0,3})d$/.exec(text)?.[1];
  const since = days === undefined ? Date.parse(text) : Date.now() - (Number(days) - 1) * dayMs;
  if (Number.isNaN(since) || since < 0)
    throw new InvalidArgumentError("Write days, such as 7d, or a date, such as 2026-01-15.");
  return since;
}
