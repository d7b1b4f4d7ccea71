import type { PluginIsolation } from "../../domain/sandbox/contained-plugin.ts";
import { AppError } from "../../lib/app-error.ts";
import type { ProcessBody } from "../../processes/body.ts";
import type { Launch } from "../../processes/launch.ts";
import { launchOf, type PluginLaunchOptions } from "./launch.ts";
import { type OpenPot, startPot } from "./pot.ts";

/** Starts what a plugin runs in, or says how it is started. */
export type StartPluginBody = (
  wanted: PluginLaunchOptions & { readonly plugin: string },
  signal: AbortSignal,
) => Promise<Launch | ProcessBody>;

/** `open`: what makes containers; without it those that need one are not started. */
export function bodiesOf(isolation: PluginIsolation, open: OpenPot | undefined): StartPluginBody {
  if (isolation === "process") return (wanted) => launchOf(wanted);
  return async (wanted, signal) => {
    if (open) return startPot(open, wanted, signal);
    throw new AppError("engine_unavailable", "Only the host starts plugins, and it is not running.");
  };
}
