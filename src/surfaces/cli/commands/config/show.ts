import type { Command } from "commander";

import { readTrustedFile } from "../../../../config/loading/config-file.ts";
import { configValues } from "../../../../config/explain/config-values.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";

export function addConfigShow(config: Command, context: CommandContext): void {
  addLeaf(config, "show", "list every setting with its value and source; secrets are masked").action(
    async (_options: object, command: Command) => {
      const { paths, environment } = context;
      const loaded = await context.loadConfig();
      const text = await readTrustedFile(paths.config);
      context.outputOf(command).items(
        configValues(loaded, text, environment.variables),
        [
          { title: "setting", of: ({ path }) => path },
          { title: "value", of: ({ value }) => (typeof value === "string" ? value : JSON.stringify(value)) },
          { title: "from", of: ({ from }) => from },
        ],
        "There are no settings.",
      );
    },
  );
}
