import type { UsageSum } from "../../../domain/turns/usage.ts";
import { formatUsd } from "../../../lib/text/format-usd.ts";
import { quotedName } from "../../../lib/text/plain-words.ts";
import type { CallFigures } from "./figures.ts";
import type { ReportHead } from "./report-format.ts";

/** A small table before the sections of a report for people. Cells are as hostile as what they are made of. */
export interface HeadTable {
  readonly title: string;
  /** Remark on the figures. */
  readonly remark: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const used = ["Calls", "Tokens in", "Tokens out", "Cost", "Calls of unknown price"] as const;

/** Days, costs and counts, in this order. */
export function headTables(head: ReportHead): readonly HeadTable[] {
  const { figures, usageRows } = head;
  const recorded = "From the records of this range.";
  const tables: HeadTable[] = [
    {
      title: "Day by day",
      remark: `Days of the time zone ${head.timeZone}.`,
      columns: ["Day", "Messages", "Turns ended", "Tool calls", "Refusals", ...used],
      rows: figures.days.map((day) => [
        day.day,
        ...[day.messages, day.turns, day.toolCalls, day.refused].map(String),
        ...cellsOf(day),
      ]),
    },
    {
      title: "What it cost, by group",
      remark: recorded,
      columns: ["Group", ...used],
      rows: [...figures.groups, { name: "total", ...figures.total }].map((sum) => [sum.name, ...cellsOf(sum)]),
    },
    {
      title: "What it cost, by model",
      remark: recorded,
      columns: ["Model", ...used],
      rows: figures.models.map((sum) => [sum.name, ...cellsOf(sum)]),
    },
    {
      title: "What it cost, by member",
      remark: usageRows
        ? `From the store's usage rows, which are not signed: whole days (UTC), ${usageRows.from} to ${usageRows.to}, both included.`
        : "The store could not be read, and records do not say which member a call was for.",
      columns: ["Member", ...used],
      rows: (usageRows?.members ?? []).map((sum) => [describeMember(sum), ...cellsOf(sum)]),
    },
    {
      title: "Records by type",
      remark: "Where there is no section, only figures tell of them.",
      columns: ["Type", "Records", "Section"],
      rows: figures.types.map(({ type, records, section }) => [type, String(records), section ?? ""]),
    },
  ];
  return tables;
}

function describeMember({ key, name }: UsageSum): string {
  if (key === "") return "(no member)";
  return name === undefined ? key : `${key} ${quotedName(name)}`;
}

function cellsOf({ calls, inputTokens, outputTokens, usd, unpricedCalls }: CallFigures): string[] {
  return [String(calls), String(inputTokens), String(outputTokens), formatUsd(usd), String(unpricedCalls)];
}
