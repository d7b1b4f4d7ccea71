import { isUtf8 } from "node:buffer";
import { closeSync, fchmodSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type * as z from "zod";

import { limits } from "./limits.ts";
import { readJson } from "./mailbox-json.ts";
import type { AgentMessage, HostMessage } from "./messages.ts";
import { messageFileName, messageFilePattern } from "./paths.ts";

/** Names that a writer uses until the rename; a reader skips them. */
export const temporaryFilePattern = /^\.\d{12}\.json\.part$/;

export type MessageReading<Message> =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly reason: string };

export type MessageText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly tooLarge: boolean; readonly reason: string };

/** The id that a file's name stands for, or undefined when it is not the name of a message. */
export function messageFileId(name: string): number | undefined {
  return messageFilePattern.test(name) ? Number(name.slice(0, 12)) : undefined;
}

/** Text of a message, or why the other side would refuse it (size, depth, forbidden keys). Never throws. */
export function encodeMessage(message: HostMessage | AgentMessage): MessageText {
  const encoded = encode(message);
  return encoded.ok ? encoded : { ...encoded, reason: `the ${message.payload.type} message ${encoded.reason}` };
}

/** Returns why a value, such as a model's tool input, cannot cross the mailbox; undefined when it can. */
export function refusalOfValue(value: unknown): string | undefined {
  const encoded = encode(value);
  return encoded.ok ? undefined : encoded.reason;
}

function encode(value: unknown): MessageText {
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch {
    // A cycle, a bigint, or nesting beyond the stack.
  }
  if (text === undefined) return { ok: false, tooLarge: false, reason: "cannot be written as JSON" };
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.messageBytes) {
    return { ok: false, tooLarge: true, reason: `has ${bytes} bytes; the cap is ${limits.messageBytes}` };
  }
  const reading = readJson(text);
  return reading.ok ? { ok: true, text } : { ok: false, tooLarge: false, reason: `is refused: ${reading.reason}` };
}

/** From bytes to a message: size, UTF-8, shape of the JSON, then the schema, then the id. Never throws. */
export function decodeMessage<Message extends { readonly id: number }>(
  bytes: Uint8Array,
  schema: z.ZodType<Message>,
  id: number,
): MessageReading<Message> {
  if (bytes.length > limits.messageBytes) return { ok: false, reason: `more than ${limits.messageBytes} bytes` };
  if (!isUtf8(bytes)) return { ok: false, reason: "not UTF-8" };
  const json = readJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
  if (!json.ok) return json;
  const parsed = schema.safeParse(json.value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { ok: false, reason: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "does not match"}`.slice(0, 500) };
  }
  if (parsed.data.id !== id) return { ok: false, reason: `id ${parsed.data.id} in the file of ${id}` };
  return { ok: true, message: parsed.data };
}

/**
 * Makes a message appear: whole or not at all, readable by the other side's uid whatever the umask. Not synced to disk,
 * because neither side outlives the machine's boot. At once, not by the thread pool: five short calls of the kernel,
 * which would each wait for a thread.
 */
export function writeMessageFile(folder: string, id: number, text: string): void {
  const name = messageFileName(id);
  const temporary = join(folder, `.${name}.part`);
  try {
    writeNew(temporary, text);
    renameSync(temporary, join(folder, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function writeNew(path: string, text: string): void {
  const descriptor = openSync(path, "wx", 0o644);
  try {
    fchmodSync(descriptor, 0o644);
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}
