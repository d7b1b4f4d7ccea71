import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** Length and SHA-256 of a file, read in pieces. */
export async function digestOfFile(path: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}
