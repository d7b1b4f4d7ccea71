import type { Command } from "commander";

import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { forgetModels, listModels } from "../../../operations/models/operations.ts";

export function addModelsCommand(program: Command, context: CommandContext): void {
  const models = program.command("models").description("what was learned of models: list or forget it");
  addLeaf(models, "list", "models of routes, their windows and how they count tokens").action(
    async (_options: object, command: Command) => {
      context.outputOf(command).items(
        await context.read(listModels, {}),
        [
          { title: "name", of: ({ name }) => name },
          { title: "routes", of: ({ routes }) => routes.join(", ") },
          { title: "window", of: ({ windowTokens }) => windowTokens },
          { title: "learned (UTC)", of: ({ learned }) => learned && formatTime(learned.at) },
          { title: "factor", of: ({ factor }) => factor?.toFixed(2) },
        ],
        "There are no models.",
      );
    },
  );

  addLeaf(models, "forget [name]", "learn anew how large a model's window is and how it counts, or all models'").action(
    async (name: string | undefined, _options: object, command: Command) => {
      const { forgotten } = await context.call(forgetModels, { name });
      const output = context.outputOf(command);
      if (output.json) output.object({ forgotten });
      output.line(forgotten.length === 0 ? "Nothing was learned." : `Forgotten: ${forgotten.join(", ")}.`);
    },
  );
}
