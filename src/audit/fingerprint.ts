import { createHmac } from "node:crypto";

/** Stands for a text that is not stored: whoever has the text and the home's salt can prove that it is this one. */
export interface Fingerprint {
  readonly sha256: string;
  readonly chars: number;
}

/** Keyed with the home's salt, so that short texts cannot be found by trying. */
export function fingerprint(salt: Uint8Array, text: string): Fingerprint {
  return { sha256: createHmac("sha256", salt).update(text).digest("hex"), chars: text.length };
}
