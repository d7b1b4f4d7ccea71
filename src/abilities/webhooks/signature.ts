import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** Headers that may carry the signature; the first that is there counts. */
const signatureHeaders = ["x-crabpot-signature", "x-hub-signature-256"] as const;

/** Random secret compared with when the hook is unknown, so that the answer takes as long. */
const nobodysSecret = randomBytes(32).toString("hex");

/** Signature in `X-Crabpot-Signature` by a program that knows the secret. */
export function signatureOf(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** True when the body is signed with this secret, byte for byte. Without one false, after the same work. */
export function isSigned(
  secret: string | undefined,
  body: Uint8Array,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): boolean {
  const name = signatureHeaders.find((header) => headers[header] !== undefined);
  const header = name === undefined ? undefined : headers[name];
  const [, hex = ""] = /^sha256=([0-9a-f]{64})$/i.exec(typeof header === "string" ? header.trim() : "") ?? [];
  const expected = Buffer.from(signatureOf(secret ?? nobodysSecret, body));
  const given = Buffer.from(`sha256=${hex.toLowerCase().padEnd(64, "-")}`);
  return timingSafeEqual(expected, given) && secret !== undefined;
}
