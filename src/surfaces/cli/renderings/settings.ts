import { stringify } from "yaml";

import type { ConfigDifferences } from "../../../domain/settings/config-state.ts";
import type { SettingChange } from "../../../domain/settings/setting.ts";
import { formatTime } from "../../../lib/time/formats.ts";
import type { SettingRecordView, SettingReport, SettingView } from "../../../operations/settings/operations.ts";
import type { Output } from "../output.ts";

/** Formats a value on one line; empty when missing. */
function formatValue(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();
}

export function showSetting(output: Output, { value }: SettingView): void {
  output.line(value === null ? "(not set)" : formatValue(value));
}

const appliesWhen: Readonly<Record<SettingChange["applies"], string>> = {
  now: "now",
  container: "with a new container",
  restart: "after a restart",
};

export function showDifferences(output: Output, { faults, differences }: ConfigDifferences): void {
  if (faults.length > 0) return showUnusable(output, faults);
  output.items(
    differences,
    [
      { title: "setting", of: ({ path }) => path },
      { title: "host", of: ({ from }) => formatValue(from) },
      { title: "config.yaml", of: ({ to }) => formatValue(to) },
      { title: "applies", of: ({ applies }) => appliesWhen[applies] },
    ],
    "The configuration is already in effect.",
  );
}

export function showHistory(output: Output, records: readonly SettingRecordView[]): void {
  output.items(
    records,
    [
      { title: "time (UTC)", of: ({ time }) => formatTime(Date.parse(time)) },
      { title: "who", of: ({ actor }) => actor },
      { title: "how", of: ({ via }) => via },
      { title: "setting", of: ({ path }) => path },
      { title: "from", of: ({ from }) => formatValue(from) },
      { title: "to", of: ({ to }) => formatValue(to) },
    ],
    "No setting has changed.",
  );
}

/** Says what a change, or reading the files again, has led to. */
export function showSettingReport(output: Output, report: SettingReport): void {
  if ("file" in report)
    return output.line(`Wrote ${report.file}. No host is running; it takes effect at the next start.`, "good");
  const { changes, config: now } = report;
  for (const change of changes.filter(({ applies }) => applies !== "restart")) {
    const when = change.applies === "now" ? "applied" : "applied with the next container";
    output.line(`${when}: ${change.path} (${showChange(change)})`, "good");
  }
  for (const path of now.restart ?? []) {
    const change = changes.find((each) => each.path === path);
    output.line(`needs a restart: ${path}${change === undefined ? "" : ` (${showChange(change)})`}`);
  }
  if (now.faults) return showUnusable(output, now.faults);
  if (changes.length === 0 && !now.restart) output.line("The configuration is already in effect.");
}

/** `UTC → Asia/Tokyo` */
function showChange({ from, to }: Pick<SettingChange, "from" | "to">): string {
  const [before, after] = [from, to].map((value) => (value === undefined ? "not set" : formatValue(value)));
  return `${before} → ${after}`;
}

/** Says why the host does not use a file. */
function showUnusable(output: Output, faults: readonly string[]): void {
  output.line("Not in effect:", "bad");
  for (const fault of faults) output.line(`  ${fault}`);
}
