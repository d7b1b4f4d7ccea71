import { MemoryHome } from "../../../../abilities/memory/offline.ts";
import { providerServer } from "../../../../config/configured/provider-servers.ts";
import { visibleLines } from "../../../../lib/text/visible.ts";
import type { CommandContext } from "../../context.ts";

/** Opens the memories of a command's home. */
export function memoryHome(context: CommandContext): MemoryHome {
  return new MemoryHome({
    paths: context.paths,
    load: async () => {
      const { config, adapters } = await context.loadPartOfConfig(["memory", "models"]);
      return { settings: config.memory, serverOf: (name) => providerServer(config, adapters, name) };
    },
    onUnembedded: ({ message }) =>
      context.streams.stderr.write(`crabpot: stored, but found by words only for now: ${visibleLines(message)}\n`),
  });
}
