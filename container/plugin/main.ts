/*
 * The program of a plugin's container, and what the plugin gets as `crabpot/plugin`: one file is both, so that an error
 * that the plugin throws is of the class that is looked for here.
 */
export * from "../../src/plugins/plugin.ts";

import { pluginLine } from "../../src/plugins/process/pot-line.ts";
import { servePlugin } from "../../src/plugins/process/serve-plugin.ts";

const [, , entry = ""] = process.argv;
servePlugin({ entry, api: import.meta.url, line: pluginLine });
