import type { Logger } from "pino";

import type { Publish } from "../domain/events/event.ts";
import type { Plugins } from "./plugins.ts";

/** Connects plugins to a host: logs their output, reports their events. */
export async function attachPlugins(
  plugins: Plugins | undefined,
  { logger, publish }: { readonly logger: Logger; readonly publish: Publish<"plugin.ended" | "plugin.refused"> },
): Promise<void> {
  if (!plugins) return;
  await plugins.verify();
  const onFault = (error: unknown): void =>
    logger.error({ err: error }, "what became of a plugin could not be recorded");
  plugins.attach(logger, {
    ended: (plugin, reason, failures) => {
      logger.warn({ plugin, reason, failures }, "the process of a plugin has ended; it restarts on demand");
      publish({ type: "plugin.ended", actor: "host", data: { plugin, reason, failures } }).catch(onFault);
    },
    refused: (plugin, reason) => {
      logger.error({ plugin, reason }, "a plugin is refused");
      publish({ type: "plugin.refused", actor: "host", data: { plugin, reason } }).catch(onFault);
    },
  });
}
