import type { Logger } from "pino";

import type { Config } from "../schema/config.ts";
import type { LiveConfig } from "./live-config.ts";

/** Returns how much is logged. A person at a console sees the chat and faults, and the rest only on request. */
export function logLevel({ log }: Pick<Config, "log">, hasConsole: boolean): Config["log"]["level"] {
  return hasConsole && log.level === "info" ? "warn" : log.level;
}

/** Changes the level of the logger with the configuration. */
export function followLogLevel(live: LiveConfig, logger: Logger, hasConsole: boolean): void {
  let level = logLevel(live.current, hasConsole);
  live.onChange(() => {
    const wanted = logLevel(live.current, hasConsole);
    if (wanted !== level) logger.level = wanted;
    level = wanted;
  });
}
