import { createDecipheriv, createHash, createHmac, hkdfSync } from "node:crypto";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { MediaReference } from "../../../processes/message-schemas.ts";

const macBytes = 10;
/** Maximum bytes that encryption adds: a block and the checksum. */
const overheadBytes = 16 + macBytes;

/**
 * Fetches a file, opens it and writes it to a new file at `path`. Rejects when it is larger than `limitBytes`, not what
 * the sender has announced, or not to be had. `hosts` are those that WhatsApp names: the message itself has no say in
 * where the host connects to.
 */
export async function fetchMedia(
  reference: MediaReference,
  to: { readonly path: string; readonly limitBytes: number; readonly hosts: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const { path, limitBytes, hosts } = to;
  if ((reference.bytes ?? 0) > limitBytes) throw new Error(`the file is larger than ${limitBytes} bytes`);
  const answer = await request(reference.directPath, hosts, signal);
  await using file = await open(path, "wx", 0o600);
  await pipeline(answer, limit(limitBytes + overheadBytes), opened(reference), check(reference), write(file), {
    signal,
  });
}

async function request(
  directPath: string,
  hosts: readonly string[],
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  if (!directPath.startsWith("/") || hosts.length === 0) throw new Error("the file's location is unknown");
  let failure = "";
  for (const host of hosts) {
    const url = new URL(`https://${host}${directPath}`);
    if (url.host !== host.replace(/:443$/, "")) throw new Error("the file's path is malformed");
    try {
      const answer = await fetch(url, { signal, redirect: "error", headers: { origin: "https://web.whatsapp.com" } });
      if (answer.ok && answer.body) return answer.body;
      failure = `the server answered ${answer.status}`;
      await answer.body?.cancel();
    } catch (error) {
      signal.throwIfAborted();
      failure = error instanceof Error ? error.message : "it failed";
    }
  }
  throw new Error(`the file could not be fetched: ${failure}`);
}

function limit(mostBytes: number): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > mostBytes) done(new Error("the file is too large"));
      else done(null, chunk);
    },
  });
}

/** AES-256-CBC with a check over the encrypted bytes at their end. */
function opened({ mediaKey, keyWord }: MediaReference): Transform {
  const key = Buffer.from(mediaKey, "base64");
  const keys = Buffer.from(hkdfSync("sha256", key, Buffer.alloc(0), `WhatsApp ${keyWord} Keys`, 112));
  const [iv, cipherKey, macKey] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)];
  const decipher = createDecipheriv("aes-256-cbc", cipherKey, iv);
  const mac = createHmac("sha256", macKey).update(iv);
  let held = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([held, chunk]);
      const ready = bytes.subarray(0, Math.max(0, bytes.length - macBytes));
      held = bytes.subarray(ready.length);
      mac.update(ready);
      done(null, decipher.update(ready));
    },
    flush(done) {
      try {
        if (!mac.digest().subarray(0, macBytes).equals(held)) throw new Error("the file was changed on its way");
        done(null, decipher.final());
      } catch (error) {
        done(error instanceof Error ? error : new Error("the file cannot be opened"));
      }
    },
  });
}

function check({ sha256 }: MediaReference): Transform {
  const hash = createHash("sha256");
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      done(hash.digest("base64") === sha256 ? null : new Error("the file is not the one that was announced"));
    },
  });
}

function write(file: FileHandle): (chunks: AsyncIterable<Buffer>) => Promise<void> {
  return async (chunks) => {
    for await (const chunk of chunks) await file.writeFile(chunk);
  };
}
