import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";

import * as z from "zod";

import { limits } from "../../../src/protocol/limits.ts";
import { ToolError } from "../../../src/protocol/tools.ts";
import { decodeText } from "../text.ts";
import { openRegularFile, resolvePath } from "./paths.ts";
import { defineContainerTool } from "./tool.ts";

const defaultLines = 2_000;
const maxLineBytes = 4_000;
/** Room for the last line of the result. */
const maxChars = limits.toolOutputChars - 200;
const newline = 10;

/** Lines with their numbers; never more of the file is read than is shown or skipped. */
export const readFile = defineContainerTool({
  name: "read_file",
  description: "Read a text file, with line numbers.",
  input: z.strictObject({
    path: z.string().min(1).describe("File to read."),
    offset: z.number().int().min(1).optional().describe("First line to read, counted from 1."),
    limit: z.number().int().min(1).max(10_000).optional().describe("How many lines. Default 2000."),
  }),
  risk: "low",
  timeoutSeconds: 60,
  activity: { doing: "reading a file", shows: "path" },
  readsOnly: true,
  run: async (input, { paths, signal }) => {
    const path = resolvePath(paths, input.path);
    const first = input.offset ?? 1;
    await using file = await openRegularFile(path, constants.O_RDONLY);
    const { size } = await file.stat();
    const shown: string[] = [];
    let chars = 0;
    let count = 0;
    for await (const line of linesOf(file, signal)) {
      count += 1;
      if (count < first) continue;
      if (line.includes(0)) throw new ToolError(`${path} is a binary file of ${size} bytes.`);
      const text = `${String(count).padStart(6)}\t${decodeText(line)}`;
      if (shown.length === (input.limit ?? defaultLines) || chars + text.length + 1 > maxChars) {
        return `${shown.join("\n")}\n[lines ${first} to ${count - 1}; there are more, go on with offset ${count}]`;
      }
      shown.push(text);
      chars += text.length + 1;
    }
    if (shown.length > 0) return shown.join("\n");
    if (count === 0) return "[the file is empty]";
    throw new ToolError(`${path} has only ${count} lines.`);
  },
});

/** Lines without their ends; of a line that is too long to show, its beginning and a note. */
async function* linesOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  const line = new LineBuffer();
  const chunk = Buffer.alloc(64 * 1024);
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    const bytes = chunk.subarray(0, bytesRead);
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
