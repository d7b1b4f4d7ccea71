import { createHash } from "node:crypto";

import type { Config } from "../schema/config.ts";

/**
 * What the audit log says of a configuration: two that are alike have the same hash, and nobody can read a value from
 * it.
 */
export function hashOfConfig(config: Config): string {
  return createHash("sha256").update(JSON.stringify(config)).digest("hex");
}
