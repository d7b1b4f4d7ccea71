import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

import { getMediaKeys } from "@whiskeysockets/baileys";
import type { MediaType } from "@whiskeysockets/baileys";

import type { Credentials } from "./certificate.ts";

/** A message's reference to a file. */
export interface MediaReference {
  readonly url: string;
  readonly directPath: string;
  readonly mediaKey: Uint8Array;
  readonly mediaKeyTimestamp: number;
  readonly fileLength: number;
  readonly fileSha256: Uint8Array;
  readonly fileEncSha256: Uint8Array;
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** The platform's storage of encrypted files, over HTTPS on the loopback. */
export class MediaServer implements AsyncDisposable {
  readonly #files = new Map<string, Buffer>();
  readonly #server: ReturnType<typeof createServer>;

  private constructor(credentials: Credentials) {
    this.#server = createServer({ key: credentials.key, cert: credentials.certificate }, (request, response) => {
      void this.#answer(request, response);
    });
  }

  static async start(credentials: Credentials): Promise<MediaServer> {
    const media = new MediaServer(credentials);
    media.#server.listen(0, "127.0.0.1");
    await once(media.#server, "listening");
    return media;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stores a file as a phone does before sending. */
  async store(type: MediaType, plain: Buffer): Promise<MediaReference> {
    const mediaKey = randomBytes(32);
    const { cipherKey, iv, macKey } = await keysOf(mediaKey, type);
    const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    const file = Buffer.concat([sealed, mac(macKey, iv, sealed)]);
    const directPath = this.#keep(file);
    return {
      url: `https://${this.host}${directPath}`,
      directPath,
      mediaKey,
      mediaKeyTimestamp: Math.floor(Date.now() / 1000),
      fileLength: plain.length,
      fileSha256: sha256(plain),
      fileEncSha256: sha256(file),
    };
  }

  /** Loads a referenced file as a phone does. */
  async load(
    type: MediaType,
    reference: Pick<MediaReference, "directPath" | "mediaKey" | "fileSha256">,
  ): Promise<Buffer> {
    const file = this.#files.get(new URL(reference.directPath, "https://media").pathname);
    if (!file) throw new Error(`there is no file ${reference.directPath}`);
    const { cipherKey, iv, macKey } = await keysOf(reference.mediaKey, type);
    const sealed = file.subarray(0, -10);
    if (!mac(macKey, iv, sealed).equals(file.subarray(-10))) throw new Error("the file was changed");
    const decipher = createDecipheriv("aes-256-cbc", cipherKey, iv);
    const plain = Buffer.concat([decipher.update(sealed), decipher.final()]);
    if (!sha256(plain).equals(reference.fileSha256)) throw new Error("the file is not the one that was announced");
    return plain;
  }

  /** The file is gone from the storage, as after some weeks. */
  drop(directPath: string): void {
    this.#files.delete(directPath);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #keep(file: Buffer): string {
    const path = `/v/${randomBytes(8).toString("hex")}.enc`;
    this.#files.set(path, file);
    return path;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "POST") {
      const directPath = this.#keep(await buffer(request));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ url: `https://${this.host}${directPath}`, direct_path: directPath }));
      return;
    }
    const file = this.#files.get(new URL(request.url ?? "/", "https://media").pathname);
    if (!file) response.writeHead(404).end();
    else response.setHeader("content-length", file.length).end(file);
  }
}

function mac(key: Uint8Array, vector: Uint8Array, sealed: Uint8Array): Buffer {
  return createHmac("sha256", key).update(vector).update(sealed).digest().subarray(0, 10);
}

async function keysOf(
  mediaKey: Uint8Array,
  type: MediaType,
): Promise<{ cipherKey: Uint8Array; iv: Uint8Array; macKey: Uint8Array }> {
  const { cipherKey, iv, macKey } = await getMediaKeys(mediaKey, type);
  if (!macKey) throw new Error("the media key has no part for the check");
  return { cipherKey, iv, macKey };
}
