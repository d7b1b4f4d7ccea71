import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";

/** Origin of a home's checkpoints: their first line, and the name of the signing key. */
export function originOf(instance: string): string {
  return `crabpot.audit/${instance}`;
}

/** Hashes are hexadecimal here and base64 in the note. */
export interface Checkpoint {
  readonly origin: string;
  /** `seq` of the last record that it covers. */
  readonly size: number;
  /** Hash of that record. */
  readonly head: string;
  /** Hash of the note before this one; of the genesis in the first one. */
  readonly previous: string;
  readonly time: string;
}

/** The public half of a signing key in the form that signed-note tools use: `name+id+key`. */
export interface VerificationKey {
  readonly name: string;
  readonly id: Buffer;
  readonly key: KeyObject;
}

const algorithmEd25519 = 1;

/** The part of the note that is signed. */
export function noteText({ origin, size, head, previous, time }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(head)}\nprevious ${toBase64(previous)}\ntime ${time}\n`;
}

export function signatureLine(key: Pick<VerificationKey, "name" | "id">, signature: Uint8Array): string {
  return `— ${key.name} ${Buffer.concat([key.id, signature]).toString("base64")}`;
}

export function noteHash(note: string): string {
  return createHash("sha256").update(note).digest("hex");
}

/** First four bytes of a hash over name and key: which key signed is seen without trying. */
export function keyId(name: string, publicKey: Uint8Array): Buffer {
  const hash = createHash("sha256").update(`${name}\n`).update(Buffer.of(algorithmEd25519)).update(publicKey);
  return hash.digest().subarray(0, 4);
}

export function formatVerificationKey(name: string, publicKey: Uint8Array): string {
  const encoded = Buffer.concat([Buffer.of(algorithmEd25519), publicKey]).toString("base64");
  return `${name}+${keyId(name, publicKey).toString("hex")}+${encoded}`;
}

/** Undefined when the text is not a key in this form. */
export function parseVerificationKey(text: string): VerificationKey | undefined {
  const [, name, id, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? [];
  if (name === undefined || id === undefined || encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  const publicKey = bytes.subarray(1);
  if (bytes[0] !== algorithmEd25519 || publicKey.length !== 32) return undefined;
  if (keyId(name, publicKey).toString("hex") !== id) return undefined;
  const x = publicKey.toString("base64url");
  return {
    name,
    id: Buffer.from(id, "hex"),
    key: createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }),
  };
}

/**
 * A note in the `checkpoints` file is eight lines: the five that are signed, an empty one, the signature, an empty one.
 */
export const noteLines = 8;

const base64Hash = "[A-Za-z0-9+/]{43}=";
const shapes = [
  /^[^\s+]+$/,
  /^[1-9]\d{0,15}$/,
  new RegExp(`^${base64Hash}$`),
  new RegExp(`^previous ${base64Hash}$`),
  /^time \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  /^$/,
  /^— [^\s+]+ [A-Za-z0-9+/]+={0,2}$/,
  /^$/,
] as const;

export interface SignedNote {
  readonly checkpoint: Checkpoint;
  /** Exactly as it stands in the file, without the empty line after it. */
  readonly note: string;
}

/** The note in these lines; undefined unless they are exactly what `noteText` and `signatureLine` write. */
export function parseNote(lines: readonly string[]): SignedNote | undefined {
  if (lines.length !== noteLines || !lines.every((line, index) => shapes[index]?.test(line))) return undefined;
  const [origin = "", size = "", head = "", previous = "", time = ""] = lines;
  const checkpoint = {
    origin,
    size: Number(size),
    head: toHex(head),
    previous: toHex(previous.slice("previous ".length)),
    time: time.slice("time ".length),
  };
  return { checkpoint, note: `${lines.slice(0, 7).join("\n")}\n` };
}

const beginnings = [
  /^[^\s+]*$/,
  /^\d*$/,
  /^[A-Za-z0-9+/=]*$/,
  /^[a-z]*( [A-Za-z0-9+/=]*)?$/,
  /^[a-z]*( [\dTZ:.-]*)?$/,
  /^$/,
  /^(\uFFFD?|—( [^\s+]*( [A-Za-z0-9+/=]*)?)?)$/,
  /^$/,
] as const;

/** True when this could be a note cut off by a crash. */
export function isBeginningOfNote(lines: readonly string[], last: string): boolean {
  return lines.every((line, index) => shapes[index]?.test(line)) && (beginnings[lines.length]?.test(last) ?? false);
}

/** True for a valid signature by this key. */
export function isSignedBy({ note }: SignedNote, { name, id, key }: VerificationKey): boolean {
  const text = note.slice(0, note.lastIndexOf("\n—"));
  const line = note.slice(text.length + 1).trimEnd();
  const signature = Buffer.from(line.slice(line.lastIndexOf(" ") + 1), "base64").subarray(4);
  return signatureLine({ name, id }, signature) === line && verify(null, Buffer.from(text), key, signature);
}

function toBase64(hex: string): string {
  return Buffer.from(hex, "hex").toString("base64");
}

function toHex(base64: string): string {
  return Buffer.from(base64, "base64").toString("hex");
}
