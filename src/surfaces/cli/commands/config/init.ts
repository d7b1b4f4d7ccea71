import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

import type { Command } from "commander";

import { builtInAdapters } from "../../../../config/adapters.ts";
import { configTemplate } from "../../../../config/explain/config-template.ts";
import { AppError, errorCode } from "../../../../lib/app-error.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";

export function addConfigInit(config: Command, context: CommandContext): void {
  addLeaf(config, "init", "write a config.yaml with every setting, its default and its purpose").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      const file = context.paths.config;
      await writeNewFile(file, configTemplate(builtInAdapters, context.environment.variables));
      if (output.json) output.object({ file });
      output.line(`Wrote ${file}.`, "good");
    },
  );
}

/** Only the host's user can read it: people will write keys into it. */
async function writeNewFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
  } catch (cause) {
    if (errorCode(cause) !== "EEXIST") throw cause;
    throw new AppError("conflict", `${file} already exists and was not changed.`, {
      cause,
      fix: `Move it away first: mv ${file} ${file}.old`,
    });
  }
}
