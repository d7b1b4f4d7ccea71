import type { Command } from "commander";

import { builtInAdapters } from "../config/adapters.ts";
import { configJsonSchema } from "../config/json-schema.ts";
import { checkConfig, describeFault } from "../config/load.ts";
import type { CommandContext } from "./context.ts";
import { addLeaf } from "./context.ts";

export function addConfigCommand(program: Command, context: CommandContext): void {
  const config = program.command("config").description("check the configuration");

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

  addLeaf(config, "schema", "the JSON Schema of config.yaml").action((_options: object, command: Command) => {
    const schema = configJsonSchema(builtInAdapters);
    const text = context.outputOf(command).json ? JSON.stringify(schema) : JSON.stringify(schema, undefined, 2);
    context.streams.stdout.write(`${text}\n`);
  });
}
