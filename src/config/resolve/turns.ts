import type { TurnSettings } from "../../domain/settings/resolved-group.ts";
import type { Config } from "../schema/config.ts";
import { entryOf } from "./entry.ts";

/** Returns the bounds on this group's turns. */
export function turnSettingsOf({ groups, limits, sessions }: Config, name: string): TurnSettings {
  const own = entryOf({ groups }, name);
  return {
    maxSteps: own?.limits?.maxSteps ?? limits.maxSteps,
    timeoutMs: sessions.turnTimeoutMinutes * 60_000,
    holdMs: sessions.holdMinutes * 60_000,
    silenceMs: sessions.silenceTimeoutSeconds * 1000,
    catchUpMinutes: own?.catchUpMinutes ?? sessions.catchUpMinutes,
  };
}
