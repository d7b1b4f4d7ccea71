/** The content has more bytes than the limit. */
export class TooLongError extends Error {
  constructor() {
    super("the answer is too long");
  }
}

/** An answer as text. Rejects with TooLongError when it has more bytes than that. */
export async function readAnswer({ body }: Response, mostBytes: number): Promise<string> {
  return (await readBytes((body ?? []) as AsyncIterable<Uint8Array>, mostBytes)).toString("utf8");
}

/** All that comes. Rejects with TooLongError when that is more. */
export async function readBytes(source: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new TooLongError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
