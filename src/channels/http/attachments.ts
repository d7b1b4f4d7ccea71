import { open } from "node:fs/promises";

import type { AttachmentKind, IncomingAttachment } from "../../domain/chats/message.ts";
import { AppError } from "../../lib/app-error.ts";
import { formatBytes } from "../../lib/text/bytes.ts";
import type { MessageBody } from "./requests.ts";

/** A multiple of four, so that each piece can be read by itself; in between, the host gets to other things. */
const pieceChars = 1024 * 1024;

export function asAttachment({ name, mimeType, data }: MessageBody["attachments"][number]): IncomingAttachment {
  return {
    kind: kindOf(mimeType),
    name,
    mimeType,
    bytes: decodedBytes(data),
    fetch: (path, limitBytes, signal) => writeDecoded(data, { path, limitBytes, signal }),
  };
}

function kindOf(mimeType: string): AttachmentKind {
  const [kind] = mimeType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

/** Returns the number of bytes in base64 text, with or without padding. */
function decodedBytes(data: string): number {
  const padding = /={0,2}$/.exec(data.slice(-2))?.[0].length ?? 0;
  return Math.floor(((data.length - padding) * 3) / 4);
}

async function writeDecoded(
  data: string,
  { path, limitBytes, signal }: { path: string; limitBytes: number; signal: AbortSignal },
): Promise<void> {
  if (decodedBytes(data) > limitBytes) throw new AppError("too_large", `it is larger than ${formatBytes(limitBytes)}`);
  await using file = await open(path, "wx", 0o600);
  for (let at = 0; at < data.length; at += pieceChars) {
    signal.throwIfAborted();
    const piece = data.slice(at, at + pieceChars);
    const bytes = Buffer.from(piece, "base64");
    // Node passes over what is no base64.
    if (bytes.length !== decodedBytes(piece)) throw new AppError("bad_input", "its data is not base64");
    await file.appendFile(bytes);
  }
}
