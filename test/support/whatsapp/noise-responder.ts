import {
  aesDecryptGCM,
  aesEncryptGCM,
  Curve,
  decodeBinaryNode,
  encodeBinaryNode,
  hkdf,
  NOISE_MODE,
  NOISE_WA_HEADER,
  proto,
  sha256,
} from "@whiskeysockets/baileys";
import type { BinaryNode, KeyPair } from "@whiskeysockets/baileys";

const empty = Buffer.alloc(0);
const routingPrefix = "ED";

function counterBytes(counter: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(counter, 8);
  return bytes;
}

function framed(payload: Uint8Array): Buffer {
  const length = payload.length;
  return Buffer.concat([Buffer.from([length >>> 16, (length >>> 8) & 255, length & 255]), payload]);
}

/** Identity of the client, by the last handshake message. */
export interface ClientIdentity {
  readonly noiseKey: Buffer;
  readonly payload: proto.ClientPayload;
}

/**
 * The server's side of Noise_XX_25519_AESGCM_SHA256 in WhatsApp's framing. `hello` → `finish` → `open`: one frame of
 * the client for each of the first two, stanzas after that.
 */
export class NoiseResponder {
  readonly #staticKey: KeyPair;
  readonly #certificateChain: Buffer;
  readonly #ephemeral = Curve.generateKeyPair();
  #stage: "hello" | "finish" | "open" = "hello";
  #hash: Buffer;
  #chainingKey: Buffer;
  #key: Buffer;
  #counter = 0;
  #readKey = empty;
  #writeKey = empty;
  #readCounter = 0;
  #writeCounter = 0;
  #received = empty;
  #introduced = false;

  constructor(staticKey: KeyPair, certificateChain: Buffer) {
    this.#staticKey = staticKey;
    this.#certificateChain = certificateChain;
    const name = Buffer.from(NOISE_MODE);
    this.#hash = name.length === 32 ? name : Buffer.from(sha256(name));
    this.#chainingKey = this.#hash;
    this.#key = this.#hash;
    this.#mixHash(NOISE_WA_HEADER);
  }

  get stage(): "hello" | "finish" | "open" {
    return this.#stage;
  }

  /** Takes bytes of the WebSocket and returns the frames that are complete. */
  frames(bytes: Buffer): Buffer[] {
    this.#received = Buffer.concat([this.#received, bytes]);
    if (!this.#introduced && !this.#readIntroduction()) return [];
    const frames: Buffer[] = [];
    while (this.#received.length >= 3) {
      const length = this.#received.readUIntBE(0, 3);
      if (this.#received.length < 3 + length) break;
      frames.push(Buffer.from(this.#received.subarray(3, 3 + length)));
      this.#received = this.#received.subarray(3 + length);
    }
    return frames;
  }

  /** The client's first frame; returns the bytes of the answer. */
  hello(frame: Buffer): Buffer {
    const ephemeral = proto.HandshakeMessage.decode(frame).clientHello?.ephemeral;
    if (!ephemeral) throw new Error("the client's hello came without a key");
    this.#mixHash(ephemeral);
    this.#mixHash(this.#ephemeral.public);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, ephemeral));
    const encryptedStatic = this.#encrypt(this.#staticKey.public);
    this.#mixKey(Curve.sharedKey(this.#staticKey.private, ephemeral));
    const payload = this.#encrypt(this.#certificateChain);
    this.#stage = "finish";
    const serverHello = { ephemeral: this.#ephemeral.public, static: encryptedStatic, payload };
    return framed(proto.HandshakeMessage.encode({ serverHello }).finish());
  }

  /** The client's second frame; from then on stanzas can be exchanged. */
  finish(frame: Buffer): ClientIdentity {
    const message = proto.HandshakeMessage.decode(frame).clientFinish;
    if (!message?.static || !message.payload) throw new Error("the client's finish is not complete");
    const noiseKey = this.#decrypt(message.static);
    this.#mixKey(Curve.sharedKey(this.#ephemeral.private, noiseKey));
    const payload = proto.ClientPayload.decode(this.#decrypt(message.payload));
    const keys = Buffer.from(hkdf(empty, 64, { salt: this.#chainingKey, info: "" }));
    this.#readKey = keys.subarray(0, 32);
    this.#writeKey = keys.subarray(32);
    this.#stage = "open";
    return { noiseKey, payload };
  }

  async decode(frame: Buffer): Promise<BinaryNode> {
    const plain = aesDecryptGCM(frame, this.#readKey, counterBytes(this.#readCounter), empty);
    this.#readCounter += 1;
    return decodeBinaryNode(plain);
  }

  encode(node: BinaryNode): Buffer {
    const sealed = aesEncryptGCM(encodeBinaryNode(node), this.#writeKey, counterBytes(this.#writeCounter), empty);
    this.#writeCounter += 1;
    return framed(sealed);
  }

  /** An optional routing prefix (from the second connection on), then the protocol's header. */
  #readIntroduction(): boolean {
    if (this.#received.length < 4) return false;
    if (this.#received.subarray(0, 2).toString() === routingPrefix) {
      if (this.#received.length < 7) return false;
      const end = 7 + this.#received.readUIntBE(4, 3);
      if (this.#received.length < end + 4) return false;
      this.#received = this.#received.subarray(end);
    }
    if (!this.#received.subarray(0, 4).equals(NOISE_WA_HEADER)) throw new Error("the client speaks another protocol");
    this.#received = this.#received.subarray(4);
    this.#introduced = true;
    return true;
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = Buffer.from(sha256(Buffer.concat([this.#hash, data])));
  }

  #mixKey(secret: Uint8Array): void {
    const keys = Buffer.from(hkdf(Buffer.from(secret), 64, { salt: this.#chainingKey, info: "" }));
    this.#chainingKey = keys.subarray(0, 32);
    this.#key = keys.subarray(32);
    this.#counter = 0;
  }

  #encrypt(plain: Uint8Array): Buffer {
    const sealed = aesEncryptGCM(plain, this.#key, counterBytes(this.#counter), this.#hash);
    this.#counter += 1;
    this.#mixHash(sealed);
    return sealed;
  }

  #decrypt(sealed: Uint8Array): Buffer {
    const plain = aesDecryptGCM(sealed, this.#key, counterBytes(this.#counter), this.#hash);
    this.#counter += 1;
    this.#mixHash(sealed);
    return plain;
  }
}
