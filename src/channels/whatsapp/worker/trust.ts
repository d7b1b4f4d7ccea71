import { createRequire } from "node:module";

import { Curve, generateSignalPubKey, WA_CERT_DETAILS } from "@whiskeysockets/baileys";
import type { TrustedRoot } from "../../../processes/message-schemas.ts";

interface SignatureCheck {
  verifySignature(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean | undefined;
}

/**
 * Makes the library check signatures: its own `Curve.verify` drops the answer and takes every well-formed signature for
 * a good one, so neither the server's certificate nor the pairing would be proven. Then sets the root that certificates
 * have to come from. With `any` the chain is still checked, but for the root itself.
 */
export function trustOnly({ root, ...given }: TrustedRoot): void {
  const { curve } = createRequire(import.meta.resolve("@whiskeysockets/baileys"))("libsignal") as {
    curve: SignatureCheck;
  };
  if ("key" in given) WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(given.key, "hex");
  const rootKey = WA_CERT_DETAILS.PUBLIC_KEY;
  Curve.verify = (publicKey, message, signature) => {
    if (root === "any" && rootKey.equals(publicKey)) return true;
    try {
      return curve.verifySignature(generateSignalPubKey(publicKey), message, signature) === true;
    } catch {
      return false;
    }
  };
}
