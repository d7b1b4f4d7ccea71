/** Maximum bytes read until the client's destination must be clear. */
export const maxHelloBytes = 32 * 1024;

export type HelloVerdict =
  /** More bytes are needed. */
  | { readonly kind: "incomplete" }
  | { readonly kind: "named"; readonly host: string }
  | { readonly kind: "refused"; readonly rule: "not-tls" | "no-sni" | "ech"; readonly detail: string };

const recordHandshake = 22;
const clientHello = 1;
const extension = { serverName: 0, encryptedHello: 0xfe0d } as const;

/**
 * Finds the server name in the first bytes of a TLS connection. Anything but a complete ClientHello with exactly one
 * host name is refused, and so is an encrypted one, whose real name is invisible.
 */
export function readClientHello(bytes: Buffer): HelloVerdict {
  const records = joinRecords(bytes);
  if (records === undefined) return notTls("the first bytes are not a TLS handshake");
  const { handshake, announced } = records;
  if (handshake.length > 0 && handshake[0] !== clientHello)
    return notTls("the handshake does not begin with a ClientHello");
  if (handshake.length < 4) return moreOrTooMuch(bytes);
  const length = handshake.readUIntBE(1, 3) + 4;
  if (length > maxHelloBytes) return notTls("the ClientHello is too long");
  // Another message in the same record would be read by the server alone.
  if (announced > length) return notTls("there is more than a ClientHello");
  if (handshake.length < length) return moreOrTooMuch(bytes);
  try {
    return readExtensions(handshake.subarray(4));
  } catch (error) {
    if (error instanceof RangeError) return notTls("the ClientHello is malformed");
    throw error;
  }
}

function moreOrTooMuch(bytes: Buffer): HelloVerdict {
  return bytes.length >= maxHelloBytes ? notTls("the ClientHello does not end") : { kind: "incomplete" };
}

/**
 * Honest clients need one or two; with thousands of them, each byte of the handshake would cost the reader a record.
 */
const maxRecords = 16;

/**
 * Joins the leading handshake records, up to the one that ends the first message, with the number of announced bytes.
 * Undefined when this is not TLS.
 */
function joinRecords(bytes: Buffer): { handshake: Buffer; announced: number } | undefined {
  let handshake = Buffer.alloc(0);
  let announced = 0;
  for (let at = 0, count = 0; at < bytes.length && !isWhole(handshake); count += 1) {
    const header = bytes.subarray(at, at + 5);
    if (count === maxRecords || header[0] !== recordHandshake || (header.length > 1 && header[1] !== 3))
      return undefined;
    if (header.length < 5) break;
    const length = header.readUInt16BE(3);
    if (length === 0 || length > 16_384) return undefined;
    handshake = Buffer.concat([handshake, bytes.subarray(at + 5, at + 5 + length)]);
    announced += length;
    at += 5 + length;
  }
  return { handshake, announced };
}

function isWhole(handshake: Buffer): boolean {
  return handshake.length >= 4 && handshake.length >= handshake.readUIntBE(1, 3) + 4;
}

function readExtensions(hello: Buffer): HelloVerdict {
  const body = new Cursor(hello);
  body.take(2 + 32);
  body.block(1);
  body.block(2);
  body.block(1);
  if (body.atEnd) return noName("the ClientHello names no server (no SNI)");
  const extensions = new Cursor(body.block(2));
  body.requireEnd();
  let host: string | undefined;
  while (!extensions.atEnd) {
    const type = extensions.number(2);
    const content = extensions.block(2);
    if (type === extension.encryptedHello) {
      return { kind: "refused", rule: "ech", detail: "the ClientHello is encrypted (ECH)" };
    }
    if (type !== extension.serverName) continue;
    if (host !== undefined) throw new RangeError("two server names");
    host = readServerName(content);
  }
  return host === undefined ? noName("the ClientHello names no server (no SNI)") : { kind: "named", host };
}

function readServerName(content: Buffer): string {
  const outer = new Cursor(content);
  const names = new Cursor(outer.block(2));
  outer.requireEnd();
  if (names.number(1) !== 0) throw new RangeError("not a host name");
  const name = names.block(2);
  names.requireEnd();
  return name.toString("latin1");
}

function notTls(detail: string): HelloVerdict {
  return { kind: "refused", rule: "not-tls", detail };
}

function noName(detail: string): HelloVerdict {
  return { kind: "refused", rule: "no-sni", detail };
}

/** Reads forward in bytes; throws RangeError where they end too early. */
class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(count: number): Buffer {
    if (this.#at + count > this.#bytes.length) throw new RangeError("the bytes end too early");
    const taken = this.#bytes.subarray(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }

  number(size: number): number {
    return this.take(size).readUIntBE(0, size);
  }

  /** Bytes behind their length, which has `size` bytes itself. */
  block(size: number): Buffer {
    return this.take(this.number(size));
  }

  requireEnd(): void {
    if (!this.atEnd) throw new RangeError("there are bytes at the end");
  }
}
