import { createRequire } from "node:module";

import { Curve, generateSignalPubKey } from "@whiskeysockets/baileys";

interface SignalCurve {
  readonly curve: { verifySignature(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean };
}

/** Is this message signed with that key? The library's own `Curve.verify` forgets to look at the answer. */
export function isSignedBy(key: Uint8Array, message: Uint8Array, signature: Uint8Array | null | undefined): boolean {
  if (!signature) return false;
  const load = createRequire(import.meta.resolve("@whiskeysockets/baileys"));
  const { curve } = load("libsignal") as SignalCurve;
  try {
    return curve.verifySignature(generateSignalPubKey(key), message, signature);
  } catch {
    return false;
  }
}

/** Gives this process's library a check of signatures that can fail, until disposed. */
export function withRealSignatures(): Disposable {
  const original = Curve.verify;
  Curve.verify = isSignedBy;
  return {
    [Symbol.dispose]: () => {
      Curve.verify = original;
    },
  };
}
