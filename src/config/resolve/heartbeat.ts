import type { HeartbeatSettings } from "../../domain/work/heartbeat.ts";
import { entryOf } from "./entry.ts";
import type { Config } from "../schema/config.ts";

const defaultMinutes = 30;

/** Heartbeat of the group; undefined: none. Missing values come from the top level. */
export function heartbeatOf(config: Pick<Config, "groups" | "heartbeat">, name: string): HeartbeatSettings | undefined {
  const own = entryOf(config, name)?.heartbeat;
  const shared = config.heartbeat === "off" ? undefined : config.heartbeat;
  if (own === "off" || (own === undefined && shared === undefined)) return undefined;
  const everyMinutes = own?.everyMinutes ?? shared?.everyMinutes ?? defaultMinutes;
  return { ...shared, ...own, everyMinutes };
}
