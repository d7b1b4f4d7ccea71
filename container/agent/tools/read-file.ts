import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";

import * as z from "zod";

import { limits } from "../../../src/protocol/limits.ts";
import { ToolError } from "../../../src/protocol/tools.ts";
import { decodeText } from "../text.ts";
import { fileKind } from "./documents/document-kind.ts";
import { readDocument, showPage } from "./documents/read-document.ts";
import { openRegularFile, resolvePath } from "./paths.ts";
import { type CallEnvironment, type ContainerToolOutput, defineContainerTool } from "./tool.ts";
import { isBitmap } from "./picture-type.ts";
import { viewImage } from "./view-image.ts";

const defaultLines = 2_000;
const maxLineBytes = 4_000;
/** Room for the last line of the result. */
const maxChars = limits.toolOutputChars - 200;
const newline = 10;
const notUtf8 =
  "[some bytes are not UTF-8 and stand here as \ufffd; `iconv -f` in the shell converts other character sets, such as WINDOWS-1252 or GB18030]";

const input = z.strictObject({
  path: z.string().min(1).describe("File to read."),
  offset: z.number().int().min(1).max(1_000_000_000).optional().describe("First line to read, counted from 1."),
  limit: z.number().int().min(1).max(10_000).optional().describe("How many lines. Default 2000."),
  page: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe("Of a document: first page, sheet, slide or chapter to read."),
  picture: z.boolean().optional().describe("Show that page of a PDF as a picture."),
});

type Input = z.infer<typeof input>;

/** Text files, documents and pictures, told apart by their bytes. */
export const readFile = defineContainerTool({
  name: "read_file",
  description: "Read a text file or the text of a PDF, docx, xlsx, pptx or epub, with line numbers; or see a picture.",
  input,
  risk: "low",
  timeoutSeconds: 60,
  activity: { doing: "reading a file", shows: "path" },
  readsOnly: true,
  run: async (wanted, place) => {
    const path = resolvePath(place.paths, wanted.path);
    await using file = await openRegularFile(path, constants.O_RDONLY);
    // Awaited below, because the file is closed then.
    const kind = await fileKind(file);
    if (kind === "document") return await readPages(path, wanted, place);
    if (wanted.page !== undefined || wanted.picture === true)
      throw new ToolError(`${path} is no document with pages; leave out page and picture.`);
    if (kind === "picture") return await viewImage.run({ path }, place);
    return await readLines(path, file, wanted, place.signal);
  },
});

function readPages(
  path: string,
  { page = 1, picture = false, offset = 1, limit = defaultLines }: Input,
  place: CallEnvironment,
): Promise<string | ContainerToolOutput> {
  if (picture) return showPage(path, page, place);
  return readDocument(path, { page, firstLine: offset, lines: limit }, place);
}

/** Lines with their numbers; never more of the file is read than is shown or skipped. */
async function readLines(
  path: string,
  file: FileHandle,
  { offset = 1, limit = defaultLines }: Input,
  signal: AbortSignal,
): Promise<string> {
  const { size } = await file.stat();
  const shown: string[] = [];
  let chars = 0;
  let count = 0;
  let broken = 0;
  for await (const line of linesOf(file, signal)) {
    count += 1;
    if (count < offset) continue;
    if (line.includes(0)) throw noText(path, { size, head: count === 1 ? line : undefined });
    const text = `${String(count).padStart(6)}\t${decodeText(line)}`;
    if (shown.length === limit || chars + text.length + 1 > maxChars) {
      shown.push(`[lines ${offset} to ${count - 1}; there are more, go on with offset ${count}]`);
      break;
    }
    shown.push(text);
    chars += text.length + 1;
    broken += Number(isBroken(line));
  }
  if (broken > 0) shown.push(notUtf8);
  if (shown.length > 0) return shown.join("\n");
  if (count === 0) return "[the file is empty]";
  throw new ToolError(`${path} has only ${count} lines.`);
}

/** True for a broken line; the last character of a cut one does not count. */
function isBroken(line: Buffer): boolean {
  return line.length <= maxLineBytes && !isUtf8(line);
}

/** Lines without their ends; of a line that is too long to show, its beginning and a note. */
async function* linesOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  const line = new LineBuffer();
  const chunk = Buffer.alloc(64 * 1024);
  const decoder = await utf16DecoderOf(file);
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    const read = chunk.subarray(0, bytesRead);
    const bytes = decoder ? Buffer.from(decoder.decode(read, { stream: true })) : read;
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      line.add(bytes.subarray(start, end));
      yield line.take();
      start = end + 1;
    }
    line.add(bytes.subarray(start));
  }
  if (line.length > 0) yield line.take();
}

/** Decoder for a text with a UTF-16 byte order mark, as from Windows; undefined for others. */
async function utf16DecoderOf(file: FileHandle): Promise<InstanceType<typeof TextDecoder> | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  const mark = bytesRead < 2 ? 0 : buffer.readUInt16BE(0);
  if (mark === 0xff_fe) return new TextDecoder("utf-16le");
  return mark === 0xfe_ff ? new TextDecoder("utf-16be") : undefined;
}

class LineBuffer {
  #options: Buffer[] = [];
  #kept = 0;
  length = 0;

  add(bytes: Buffer): void {
    const part = Buffer.from(bytes.subarray(0, maxLineBytes - this.#kept));
    this.#options.push(part);
    this.#kept += part.length;
    this.length += bytes.length;
  }

  take(): Buffer {
    if (this.length > this.#kept) this.#options.push(Buffer.from(` [… ${this.length - this.#kept} bytes more]`));
    const line = Buffer.concat(this.#options);
    this.#options = [];
    this.#kept = 0;
    this.length = 0;
    return line.at(-1) === 13 ? line.subarray(0, -1) : line;
  }
}

/** `head`: how it begins, where that is known. */
function noText(path: string, { size, head }: { readonly size: number; readonly head: Buffer | undefined }): ToolError {
  if (head && isBitmap(head))
    return new ToolError(`${path} is a picture in BMP of ${size} bytes. Convert it to PNG to look at it.`);
  return new ToolError(`${path} is a binary file of ${size} bytes.`);
}
