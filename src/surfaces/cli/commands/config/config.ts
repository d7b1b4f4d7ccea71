import type { Command } from "commander";

import type { ConfigDifferences } from "../../../../domain/settings/config-state.ts";
import { configJsonSchema } from "../../../../config/schema/json-schema.ts";
import { tellConfigCheck } from "./check.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { addConfigInit } from "./init.ts";
import { addConfigShow } from "./show.ts";
import { addConfigHistory } from "./history.ts";
import { addSettingCommands, formatValue, tellReport, tellUnusable } from "./settings.ts";
import { applyConfig, diffConfig } from "../../../../operations/settings/operations.ts";

type Difference = ConfigDifferences["differences"][number];

const appliesWhen: Readonly<Record<Difference["applies"], string>> = {
  now: "now",
  container: "with a new container",
  restart: "after a restart",
};

export function addConfigCommand(program: Command, context: CommandContext): void {
  const config = program.command("config").description("check, change and apply the configuration");

  addLeaf(config, "check", "validate config.yaml").action((_options: object, command: Command) =>
    tellConfigCheck(context, context.outputOf(command)),
  );

  addConfigInit(config, context);
  addConfigShow(config, context);
  addSettingCommands(config, context);

  addLeaf(config, "diff", "compare config.yaml with the running configuration").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      const { faults, differences } = await context.call(diffConfig, {});
      if (faults.length > 0) {
        if (output.json) output.object({ faults });
        return tellUnusable(context, output, faults);
      }
      const columns = [
        { title: "setting", of: ({ path }: Difference) => path },
        { title: "host", of: ({ from }: Difference) => formatValue(from) },
        { title: "config.yaml", of: ({ to }: Difference) => formatValue(to) },
        { title: "applies", of: ({ applies }: Difference) => appliesWhen[applies] },
      ];
      output.items(differences, columns, "The configuration is already in effect.");
    },
  );

  addApplyCommand(config, "apply", context);
  addConfigHistory(config, context);

  addLeaf(config, "schema", "print the JSON Schema of config.yaml").action(
    async (_options: object, command: Command) => {
      const schema = configJsonSchema(await context.adapters());
      const text = context.outputOf(command).json ? JSON.stringify(schema) : JSON.stringify(schema, undefined, 2);
      context.streams.stdout.write(`${text}\n`);
    },
  );
}

/** `crabpot reload` is `crabpot config apply`. */
export function addReloadCommand(program: Command, context: CommandContext): void {
  addApplyCommand(program, "reload", context);
}

function addApplyCommand(parent: Command, name: string, context: CommandContext): void {
  addLeaf(parent, name, "reload config.yaml and mounts.json now, as SIGHUP does").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      tellReport(context, output, await context.call(applyConfig, {}));
    },
  );
}
