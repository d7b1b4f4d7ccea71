import { createHmac } from "node:crypto";

import type { Fingerprint } from "../../domain/fingerprint.ts";

/** Keyed with the home's salt, so that short texts cannot be found by trying. */
export function fingerprint(salt: Uint8Array, text: string): Fingerprint {
  return { sha256: createHmac("sha256", salt).update(text).digest("hex"), chars: text.length };
}
