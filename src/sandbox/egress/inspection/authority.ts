import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { X509Certificate } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { AppError, nothingIfMissing } from "../../../lib/app-error.ts";
import { writeWhole } from "../../../lib/files/guarded-change.ts";
import { der } from "./der.ts";

const oid = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  commonName: "2.5.4.3",
  subjectKey: "2.5.29.14",
  keyUsage: "2.5.29.15",
  alternativeName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKey: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuthentication: "1.3.6.1.5.5.7.3.1",
} as const;

const dayMs = 86_400_000;
const authorityDays = 3_650;
const leafDays = 30;

/** A key and certificate as PEM. */
export interface Credentials {
  readonly key: string;
  readonly certificate: string;
}

/**
 * The home's own certificate authority: what it signs is trusted in containers whose requests get secrets, nowhere
 * else.
 */
export interface Authority {
  readonly certificate: string;
  /** Makes a certificate for a host name that can be used for a month. */
  issue(host: string, now: number): Credentials;
}

/**
 * Reads the authority of a home, or makes it the first time. The key never leaves the folder, which is the host's
 * alone.
 */
export async function openAuthority(folder: string, now: number): Promise<Authority> {
  const keyFile = join(folder, "egress-ca.key");
  const certificateFile = join(folder, "egress-ca.pem");
  let found = await readPair(keyFile, certificateFile);
  if (found === undefined) {
    found = makeAuthority(now);
    await writeWhole(keyFile, found.key);
    await writeWhole(certificateFile, found.certificate);
  }
  const key = createPrivateKey(found.key);
  const certificate = new X509Certificate(found.certificate);
  if (!certificate.checkPrivateKey(key) || Date.parse(certificate.validTo) < now + leafDays * dayMs) {
    throw new AppError("setup_required", `${keyFile} and ${certificateFile} do not belong together, or have expired.`, {
      fix: `Remove both; new ones are made at the next start: rm ${keyFile} ${certificateFile}`,
    });
  }
  return { certificate: found.certificate, issue: (host, at) => issueLeaf(host, key, at) };
}

async function readPair(keyFile: string, certificateFile: string): Promise<Credentials | undefined> {
  const texts = [keyFile, certificateFile].map(async (file) => readFile(file, "utf8").catch(nothingIfMissing));
  const [key, certificate] = await Promise.all(texts);
  return key === undefined || certificate === undefined ? undefined : { key, certificate };
}

function makeAuthority(now: number): Credentials {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = makeCertificate({
    subject: authorityName,
    publicKey,
    signer: privateKey,
    now,
    days: authorityDays,
    extensions: [
      extension(oid.basicConstraints, der.sequence(der.true(), der.integer(Buffer.from([0]))), true),
      extension(oid.keyUsage, der.bits(Buffer.from([0x04]), 2), true),
    ],
  });
  return { key: pemOf(privateKey), certificate };
}

const authorityName = "crabpot egress of this home";

function issueLeaf(host: string, signer: KeyObject, now: number): Credentials {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = makeCertificate({
    subject: host.length > 64 ? "long name" : host,
    publicKey,
    signer,
    now,
    days: leafDays,
    extensions: [
      extension(oid.basicConstraints, der.sequence(), true),
      extension(oid.keyUsage, der.bits(Buffer.from([0x80]), 7), true),
      extension(oid.extendedKeyUsage, der.sequence(der.identifier(oid.serverAuthentication))),
      extension(oid.alternativeName, der.sequence(der.implicit(2, Buffer.from(host, "latin1")))),
    ],
  });
  return { key: pemOf(privateKey), certificate };
}

function makeCertificate(wish: {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly now: number;
  readonly days: number;
  readonly extensions: readonly Buffer[];
}): string {
  const algorithm = der.sequence(der.identifier(oid.ecdsaWithSha256));
  const from = new Date(wish.now - dayMs);
  const until = new Date(wish.now + wish.days * dayMs);
  const keyIds = [
    extension(oid.subjectKey, der.octets(keyId(wish.publicKey))),
    extension(oid.authorityKey, der.sequence(der.implicit(0, keyId(createPublicKey(wish.signer))))),
  ];
  const body = der.sequence(
    der.explicit(0, der.integer(Buffer.from([2]))),
    // Positive and never the same twice, as clients demand.
    der.integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    algorithm,
    nameOf(authorityName),
    der.sequence(der.time(from), der.time(until)),
    nameOf(wish.subject),
    spkiOf(wish.publicKey),
    der.explicit(3, der.sequence(...wish.extensions, ...keyIds)),
  );
  const signature = sign("sha256", body, wish.signer);
  const text = der.sequence(body, algorithm, der.bits(signature)).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${text.replaceAll(/.{64}/g, "$&\n").trimEnd()}\n-----END CERTIFICATE-----\n`;
}

function nameOf(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.identifier(oid.commonName), der.text(commonName))));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return der.sequence(der.identifier(id), ...(critical ? [der.true()] : []), der.octets(value));
}

function keyId(key: KeyObject): Buffer {
  return createHash("sha256").update(spkiOf(key)).digest().subarray(0, 20);
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

function pemOf(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
