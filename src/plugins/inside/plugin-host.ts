import type { Line } from "../../processes/line.ts";
import type { plugin } from "../../processes/protocol.ts";
import type { Definitions } from "./describe.ts";

/** The host, as a plugin's process speaks to it. */
export type PluginHost = Line<typeof plugin.process, typeof plugin.host>;

/** The plugin's definitions and the host, for the process. */
export interface Inside {
  readonly definitions: Promise<Definitions>;
  readonly host: () => PluginHost;
}
