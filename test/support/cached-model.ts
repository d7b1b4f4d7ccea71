import { homedir } from "node:os";
import { join } from "node:path";

import { localModel } from "../../src/memory/embedding/model-files.ts";

/** Where `npm run test:model` puts the local model: once on a machine, for all checkouts. */
export function cachedModelFolder(): string {
  const cache = process.env["XDG_CACHE_HOME"];
  return join(
    cache === undefined || cache === "" ? join(homedir(), ".cache") : cache,
    "crabpot",
    "models",
    localModel.name,
  );
}
