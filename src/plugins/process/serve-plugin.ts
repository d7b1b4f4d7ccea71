import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

import { type ServeOptions, serveHost } from "../../processes/inside.ts";
import { plugin } from "../../processes/protocol.ts";
import { definitionsOf } from "../inside/describe.ts";
import { answersOf } from "../inside/inside.ts";
import type { PluginHost } from "../inside/plugin-host.ts";
import { pluginFailures } from "./failures.ts";

const servedCalls = 256;

interface ServedPlugin extends Pick<ServeOptions<typeof plugin>, "line"> {
  /** Path of its module. */
  readonly entry: string;
  /** URL of the module that it gets as `crabpot/plugin`. */
  readonly api: string;
}

/**
 * Loads a plugin, and answers the host for it. It has its own files to read, no keys and no environment to speak of:
 * settings come from the host, and it ends with the host. Whatever the plugin does here, the host sees only what comes
 * over the line.
 */
export function servePlugin({ entry, api, line }: ServedPlugin): void {
  registerHooks({
    resolve: (wanted, context, next) =>
      wanted === "crabpot/plugin" ? { url: api, shortCircuit: true } : next(wanted, context),
  });
  // What goes wrong with it is told to whoever asks for something of it.
  const definitions = import(pathToFileURL(entry).href).then((loaded: { readonly default?: unknown }) =>
    definitionsOf(loaded.default),
  );
  definitions.catch(() => undefined);
  const host: PluginHost = serveHost({
    protocol: plugin,
    answers: answersOf(definitions, () => host),
    listeners: {},
    servedCalls,
    failures: pluginFailures,
    line,
  });
}
