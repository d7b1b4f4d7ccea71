import { constants } from "node:fs";
import { open } from "node:fs/promises";

import type { FastifyReply } from "fastify";

import type { OutgoingFile, OutgoingMessage } from "../../domain/chats/message.ts";
import { AppError } from "../../lib/app-error.ts";

export const filesPath = "/v1/channels/http/files/";

export interface FileRequest {
  readonly Params: { readonly seq: string };
}

/**
 * A message as readers get it; `href` is where its file can be fetched, with the same token. `replyTo` is the id of the
 * message that it answers, the last one where it answers several.
 */
export function asReply(message: OutgoingMessage): object {
  const { seq, group, text, inReplyTo, thread, turn, kind, agent, file, reaction } = message;
  const files = file
    ? [{ name: file.name, mimeType: file.mimeType, bytes: file.bytes, href: `${filesPath}${seq}` }]
    : [];
  return {
    seq,
    group,
    text,
    inReplyTo,
    replyTo: inReplyTo.at(-1) ?? null,
    thread: thread ?? null,
    turn: turn ?? null,
    kind,
    ...(agent !== undefined && { agent }),
    files,
    ...(file && { file: files[0] }),
    ...(reaction && { reaction }),
  };
}

/** Streams the file of a message. A browser that gets it saves it: nothing in it is ever run or shown. */
export async function sendFile(reply: FastifyReply, message: OutgoingMessage | undefined): Promise<FastifyReply> {
  const file = message?.file;
  if (!file) throw new AppError("not_found", "There is no file at this address.");
  const handle = await open(file.path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (!handle) throw new AppError("not_found", "The file is no longer kept.");
  return reply
    .type(file.mimeType)
    .header("content-length", (await handle.stat()).size)
    .header("content-disposition", disposition(file))
    .send(handle.createReadStream());
}

/** The name twice: in letters that every client reads, and as it is. */
function disposition({ name }: OutgoingFile): string {
  const plain = name.replaceAll(/[^\w .()+-]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
