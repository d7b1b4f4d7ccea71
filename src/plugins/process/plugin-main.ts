import { pathToFileURL } from "node:url";

import { ownModule } from "../../lib/process/own-module.ts";
import { servePlugin } from "./serve-plugin.ts";

/* The process of a plugin that runs beside the host. */

const [, , entry = ""] = process.argv;
servePlugin({ entry, api: pathToFileURL(ownModule("plugin-api", import.meta)).href });
