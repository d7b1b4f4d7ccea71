import type { Command } from "commander";
import { stringify } from "yaml";

import { editConfig } from "../../../../config/editing/edit-config.ts";
import { readValue } from "../../../../config/editing/read-value.ts";
import { parsePath } from "../../../../config/editing/setting-path.ts";
import { settingInEffect } from "../../../../config/explain/setting-in-effect.ts";
import { formatPath } from "../../../../config/faults.ts";
import { configuredGroups } from "../../../../config/configured/groups.ts";
import { checkConfigText } from "../../../../config/loading/load.ts";
import type { ReloadReport } from "../../../../domain/settings/config-state.ts";
import type { SettingChange, SettingEdit } from "../../../../domain/settings/setting.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { isWithoutHost } from "../../../../lib/process/control-socket.ts";
import type { Output } from "../../output.ts";
import { editSettings, getSetting, type SettingView } from "../../../../operations/settings/operations.ts";

/** `get`, `set` and `unset`: with a host through it, as it knows the variables; without one on the file itself. */
export function addSettingCommands(config: Command, context: CommandContext): void {
  addLeaf(
    config,
    "get <path>",
    "show the effective value of a setting, such as groups.family.policy; secrets are masked",
  ).action(async (path: string, _options: object, command: Command) => {
    const output = context.outputOf(command);
    const { value } = await readSetting(context, path);
    if (output.json) output.object({ path, value });
    output.line(value === null ? "(not set)" : formatValue(value));
  });

  addLeaf(config, "set <path> <value>", "change a setting in config.yaml; the value is YAML").action(
    (path: string, value: string, _options: object, command: Command) =>
      changeConfig(context, context.outputOf(command), [{ path: parsePath(path), value: readValue(value) }]),
  );

  addLeaf(config, "unset <path>", "remove a setting from config.yaml").action(
    (path: string, _options: object, command: Command) =>
      changeConfig(context, context.outputOf(command), [{ path: parsePath(path), value: undefined }]),
  );
}

/** Formats a value on one line; empty when missing. */
export function formatValue(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  return stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trimEnd();
}

async function readSetting(context: CommandContext, text: string): Promise<SettingView> {
  const path = parsePath(text);
  try {
    return await context.call(getSetting, { path: text });
  } catch (error) {
    if (!isWithoutHost(error)) throw error;
  }
  const loaded = await context.loadConfig();
  return { path: formatPath(path), value: settingInEffect(loaded, configuredGroups(loaded.config), path) };
}

/** Changes config.yaml, and says when that takes effect. `ask`: how a host is asked to do it; there need not be one. */
export async function changeConfig(
  context: CommandContext,
  output: Output,
  edits: readonly SettingEdit[],
  ask: () => Promise<ReloadReport> = () => context.call(editSettings, { edits: [...edits] }),
): Promise<void> {
  try {
    tellReport(context, output, await ask());
  } catch (error) {
    if (!isWithoutHost(error)) throw error;
    await changeFile(context, edits);
    const file = context.paths.config;
    if (output.json) output.object({ file, paths: edits.map(({ path }) => formatPath(path)), applies: "start" });
    output.line(`Wrote ${file}. No host is running; it takes effect at the next start.`, "good");
  }
}

async function changeFile(context: CommandContext, edits: readonly SettingEdit[]) {
  const { variables } = context.environment;
  const adapters = await context.adapters();
  const check = (text: string) => checkConfigText(text, variables, adapters);
  await editConfig(context.paths.config, edits, { variables, adapters, check });
}

/** Prints the state of the configuration files; exit code 1 when one is unusable. */
export function tellReport(context: CommandContext, output: Output, report: ReloadReport): void {
  const { changes, config: now } = report;
  if (output.json) output.object(report);
  for (const change of changes) {
    const isLater = change.applies === "restart";
    if (!isLater)
      output.line(
        `${change.applies === "now" ? "applied" : "applied with the next container"}: ${change.path} (${showChange(change)})`,
        "good",
      );
  }
  for (const path of now.restart ?? []) output.line(`needs a restart: ${path}${valuesOf(changes, path)}`);
  if (now.faults) return tellUnusable(context, output, now.faults);
  if (changes.length === 0 && !now.restart) output.line("The configuration is already in effect.");
}

function valuesOf(changes: readonly SettingChange[], path: string): string {
  const change = changes.find((each) => each.path === path);
  return change === undefined ? "" : ` (${showChange(change)})`;
}

/** `UTC → Asia/Tokyo` */
export function showChange({ from, to }: Pick<SettingChange, "from" | "to">): string {
  const [before, after] = [from, to].map((value) => (value === undefined ? "not set" : formatValue(value)));
  return `${before} → ${after}`;
}

/** Says why the host does not use a file. */
export function tellUnusable(context: CommandContext, output: Output, faults: readonly string[]): void {
  context.exitCode = 1;
  output.line("Not in effect:", "bad");
  for (const fault of faults) output.line(`  ${fault}`);
}
