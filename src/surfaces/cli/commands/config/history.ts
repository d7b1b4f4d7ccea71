import type { Command } from "commander";

import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import { formatTime } from "../../../../lib/time/formats.ts";
import { parseCount } from "../../parse-count.ts";
import { formatValue } from "./settings.ts";
import { configHistory } from "../../../../operations/settings/operations.ts";

export function addConfigHistory(config: Command, context: CommandContext): void {
  addLeaf(config, "history [path]", "list changes of settings and their authors, newest first")
    .option("--limit <count>", "how many", parseCount, 50)
    .action(async (path: string | undefined, { limit }: { limit: number }, command: Command) => {
      const records = await context.read(configHistory, { path, limit });
      context.outputOf(command).items(
        records.map(({ time, ...record }) => ({ ...record, time: new Date(time).toISOString() })),
        [
          { title: "time (UTC)", of: ({ time }) => formatTime(Date.parse(time)) },
          { title: "who", of: ({ actor }) => actor },
          { title: "how", of: ({ via }) => via },
          { title: "setting", of: (record) => record.path },
          { title: "from", of: ({ from }) => formatValue(from) },
          { title: "to", of: ({ to }) => formatValue(to) },
        ],
        "No setting has changed.",
      );
    });
}
