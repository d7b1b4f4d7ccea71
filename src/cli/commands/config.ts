import type { Command } from "commander";

import { builtInAdapters } from "../../config/adapters.ts";
import type { ConfigDifferences } from "../../domain/config-state.ts";
import { configJsonSchema } from "../../config/schema/json-schema.ts";
import { tellConfigCheck } from "./config/check.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { addConfigInit } from "./config/init.ts";
import { addConfigShow } from "./config/show.ts";
import type { Output } from "../output.ts";

type Difference = ConfigDifferences["differences"][number];

export function addConfigCommand(program: Command, context: CommandContext): void {
  const config = program.command("config").description("check the configuration, and apply it");

  addLeaf(config, "check", "read config.yaml as the host would, and say what is wrong with it").action(
    (_options: object, command: Command) => tellConfigCheck(context, context.outputOf(command)),
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

  addApplyCommand(config, "apply", context);

  addLeaf(config, "schema", "the JSON Schema of config.yaml").action((_options: object, command: Command) => {
    const schema = configJsonSchema(builtInAdapters);
    const text = context.outputOf(command).json ? JSON.stringify(schema) : JSON.stringify(schema, undefined, 2);
    context.streams.stdout.write(`${text}\n`);
  });
}

/** `crabpot reload` is `crabpot config apply`. */
export function addReloadCommand(program: Command, context: CommandContext): void {
  addApplyCommand(program, "reload", context);
}

function addApplyCommand(parent: Command, name: string, context: CommandContext): void {
  addLeaf(parent, name, "make the running host read config.yaml and mounts.json now, as SIGHUP does").action(
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
}

function tellUnusable(context: CommandContext, output: Output, faults: readonly string[]): void {
  context.exitCode = 1;
  output.line("The host does not use this:", "bad");
  for (const fault of faults) output.line(`  ${fault}`);
}
