import { Curve, proto, WA_CERT_DETAILS } from "@whiskeysockets/baileys";

const { Details } = proto.CertChain.NoiseCertificate;
const { CertChain } = proto;
const monthSeconds = 2_592_000;

/** Certificates of the handshake, and the root to pin. */
export interface Trust {
  readonly chain: Buffer;
  readonly rootPublicKey: Buffer;
}

/** Signs root → intermediate → leaf; the leaf is for the server's static Noise key. */
export function makeTrust(staticPublicKey: Uint8Array): Trust {
  const root = Curve.generateKeyPair();
  const intermediate = Curve.generateKeyPair();
  const now = Math.floor(Date.now() / 1000);
  const term = { notBefore: now - 60, notAfter: now + monthSeconds };
  const intermediateDetails = Details.encode({
    serial: 1,
    issuerSerial: WA_CERT_DETAILS.SERIAL,
    key: intermediate.public,
    ...term,
  }).finish();
  const leafDetails = Details.encode({ serial: 2, issuerSerial: 1, key: staticPublicKey, ...term }).finish();
  const chain = CertChain.encode({
    leaf: { details: leafDetails, signature: Curve.sign(intermediate.private, leafDetails) },
    intermediate: { details: intermediateDetails, signature: Curve.sign(root.private, intermediateDetails) },
  }).finish();
  return { chain: Buffer.from(chain), rootPublicKey: Buffer.from(root.public) };
}
