import type { Command } from "commander";

import { configJsonSchema } from "../../../../config/schema/json-schema.ts";
import { tellConfigCheck } from "./check.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { addConfigInit } from "./init.ts";
import { addConfigShow } from "./show.ts";

/** Commands on the file itself, which no host takes part in. */
export function addConfigCommands(config: Command, context: CommandContext): void {
  addLeaf(config, "check", "validate config.yaml").action((_options: object, command: Command) =>
    tellConfigCheck(context, context.outputOf(command)),
  );

  addConfigInit(config, context);
  addConfigShow(config, context);

  addLeaf(config, "schema", "print the JSON Schema of config.yaml").action(
    async (_options: object, command: Command) => {
      const schema = configJsonSchema(await context.adapters());
      const text = context.outputOf(command).json ? JSON.stringify(schema) : JSON.stringify(schema, undefined, 2);
      context.streams.stdout.write(`${text}\n`);
    },
  );
}
