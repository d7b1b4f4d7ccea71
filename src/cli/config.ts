import type { Command } from "commander";

import { builtInAdapters } from "../config/adapters.ts";
import type { ConfigDifferences } from "../domain/config-state.ts";
import { configJsonSchema } from "../config/json-schema.ts";
import { checkConfig, describeFault } from "../config/load.ts";
import type { CommandContext } from "./context.ts";
import { addLeaf } from "./context.ts";
import { addConfigInit } from "./config-init.ts";
import { addConfigShow } from "./config-show.ts";
import type { Output } from "./output.ts";

type Difference = ConfigDifferences["differences"][number];

export function addConfigCommand(program: Command, context: CommandContext): void {
  const config = program.command("config").description("check the configuration, and apply it");

  addLeaf(config, "check", "read config.yaml as the host would, and say what is wrong with it").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      const file = context.paths.config;
      const check = await checkConfig(file, context.environment.variables);
      if (check.ok) {
        const { announcements, fromFile } = check.loaded;
        if (output.json) output.object({ ok: true, file, fromFile, announcements });
        output.line(fromFile ? `${file} is valid.` : `${file} does not exist; the defaults apply.`, "good");
        for (const announcement of announcements) output.line(announcement);
        return;
      }
      context.exitCode = 1;
      output.line(`${file} cannot be used:`, "bad");
      for (const fault of check.faults) {
        if (output.json) output.object({ ok: false, file, ...fault });
        output.line(`  ${describeFault(fault)}`);
        if (fault.fix !== undefined) output.line(`    fix: ${fault.fix}`);
      }
    },
  );

  addConfigInit(config, context);
  addConfigShow(config, context);

  addLeaf(config, "diff", "where config.yaml differs from what the running host works with").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      const { faults, differences } = await context.host.diffConfig();
      if (faults.length > 0) {
        if (output.json) output.object({ faults });
        return tellUnusable(context, output, faults);
      }
      const columns = [
        { title: "setting", of: ({ path }: Difference) => path },
        { title: "applies", of: ({ applies }: Difference) => (applies === "now" ? "now" : "after a restart") },
      ];
      output.items(differences, columns, "The host works with what config.yaml says.");
    },
  );

  addLeaf(config, "apply", "make the running host read config.yaml and mounts.json now").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      const report = await context.host.applyConfig();
      const { changed, config: now } = report;
      if (output.json) output.object(report);
      for (const path of changed) output.line(`applied: ${path}`, "good");
      for (const path of now.restart ?? []) output.line(`needs a restart: ${path}`);
      if (now.faults) return tellUnusable(context, output, now.faults);
      if (changed.length === 0 && !now.restart) output.line("The host works with what the files say.");
    },
  );

  addSchemaCommand(config, context);
}

function addSchemaCommand(config: Command, context: CommandContext): void {
  addLeaf(config, "schema", "the JSON Schema of config.yaml").action((_options: object, command: Command) => {
    const schema = configJsonSchema(builtInAdapters);
    const text = context.outputOf(command).json ? JSON.stringify(schema) : JSON.stringify(schema, undefined, 2);
    context.streams.stdout.write(`${text}\n`);
  });
}

function tellUnusable(context: CommandContext, output: Output, faults: readonly string[]): void {
  context.exitCode = 1;
  output.line("The host does not use this:", "bad");
  for (const fault of faults) output.line(`  ${fault}`);
}
