import { createHash } from "node:crypto";

import type { Config } from "../schema/config.ts";

/**
 * Hash of a configuration for the audit log. Equal configurations have equal hashes, and values cannot be read from it.
 */
export function hashOfConfig(config: Config): string {
  return createHash("sha256").update(JSON.stringify(config)).digest("hex");
}
