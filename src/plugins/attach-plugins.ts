import type { Logger } from "pino";

import { toError } from "../lib/app-error.ts";
import type { Publish } from "../domain/events/event.ts";
import type { Plugins } from "./plugins.ts";
import type { OpenPot } from "./process/pot.ts";

interface PluginHostParts {
  readonly logger: Logger;
  readonly publish: Publish<"plugin.ended" | "plugin.refused">;
}

/** Connects plugins to a host: makes their containers, logs their output, reports their events. */
export async function attachPlugins(
  plugins: Plugins | undefined,
  { logger, publish }: PluginHostParts,
  servers: { readonly open: OpenPot },
): Promise<void> {
  if (!plugins) return;
  await plugins.verify();
  if (plugins.isolation === "process" && plugins.list().length > 0)
    logger.warn(
      "plugins run without walls, as processes of the host's user: plugins.isolation in config.yaml is process",
    );
  const onFault = (error: unknown): void =>
    logger.error({ err: error }, "what became of a plugin could not be recorded");
  plugins.attach(
    logger,
    {
      ended: (plugin, reason, failures) => {
        logger.warn({ plugin, reason, failures }, "the process of a plugin has ended; it restarts on demand");
        publish({ type: "plugin.ended", actor: "host", data: { plugin, reason, failures } }).catch(onFault);
      },
      refused: (plugin, reason) => {
        logger.error({ plugin, reason }, "a plugin is refused");
        publish({ type: "plugin.refused", actor: "host", data: { plugin, reason } }).catch(onFault);
      },
      waits: (plugin, reason) =>
        logger.warn({ plugin, reason }, "a plugin is not started; it will be when this is over"),
    },
    (...wanted) => servers.open(...wanted),
  );
}

/** Asks for the engine. Until it is there, plugins say that they wait for it, as agents do. */
export async function prepareForPlugins(plugins: Plugins | undefined, prepare: () => Promise<void>): Promise<void> {
  try {
    await prepare();
    plugins?.noteEngine(undefined);
  } catch (error) {
    plugins?.noteEngine(toError(error).message);
    throw error;
  }
}
