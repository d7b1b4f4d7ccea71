import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";

import * as z from "zod";

import { ToolError } from "../../../src/protocol/tools.ts";
import { openRegularFile, resolvePath } from "./paths.ts";
import { defineContainerTool } from "./tool.ts";

const maxBytes = 16 * 1024 * 1024;

/** A file that is not UTF-8 is refused, because writing it back would spoil its other bytes. */
export const editFile = defineContainerTool({
  name: "edit_file",
  description: "Replace text in a file. Fails unless the old text occurs exactly once, or replace_all is set.",
  input: z.strictObject({
    path: z.string().min(1).describe("File to change."),
    old_text: z.string().min(1).describe("Text that stands in the file exactly once."),
    new_text: z.string().describe("What to put in its place."),
    replace_all: z.boolean().optional().describe("Replace each occurrence instead of demanding exactly one."),
  }),
  risk: "medium",
  timeoutSeconds: 60,
  activity: { doing: "changing a file", shows: "path" },
  readsOnly: false,
  run: async (input, { paths }) => {
    const path = resolvePath(paths, input.path);
    await using file = await openRegularFile(path, constants.O_RDWR);
    const { size } = await file.stat();
    if (size > maxBytes) throw new ToolError(`${path} has ${size} bytes; at most ${maxBytes} can be edited.`);
    const bytes = await file.readFile();
    if (!isUtf8(bytes)) throw new ToolError(`${path} is not UTF-8 text.`);
    const parts = bytes.toString("utf8").split(input.old_text);
    const count = parts.length - 1;
    if (count === 0) throw new ToolError(notFound(path, bytes, input.old_text));
    if (count > 1 && input.replace_all !== true) {
      throw new ToolError(
        `old_text stands ${count} times in ${path}; give more of its surroundings, or set replace_all.`,
      );
    }
    const changed = Buffer.from(parts.join(input.new_text));
    await file.write(changed, 0, changed.length, 0);
    await file.truncate(changed.length);
    return `Replaced ${count} ${count === 1 ? "occurrence" : "occurrences"} in ${path}.`;
  },
});

function notFound(path: string, bytes: Buffer, oldText: string): string {
  const hint = bytes.includes("\r\n") && oldText.includes("\n") ? " Its lines end with CR LF." : "";
  return `old_text does not stand in ${path}.${hint} Read the file and copy the text exactly.`;
}
