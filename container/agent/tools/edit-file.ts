import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";

import { toolInputs } from "../../../src/protocol/tools.ts";
import { openRegularFile, resolvePath } from "./paths.ts";
import type { PathBase } from "./paths.ts";
import { descriptionOf, failure, success } from "./tool.ts";
import type { Tool, ToolInput, ToolOutput } from "./tool.ts";

const maxBytes = 16 * 1024 * 1024;

/** Replaces text. A file that is not UTF-8 is refused, because writing it back would spoil its other bytes. */
export class EditFileTool implements Tool<"edit_file"> {
  readonly name = "edit_file";
  readonly description = descriptionOf("edit_file");
  readonly schema = toolInputs.edit_file;
  readonly readsOnly = false;
  readonly #base: PathBase;

  constructor(base: PathBase) {
    this.#base = base;
  }

  async execute(input: ToolInput<"edit_file">): Promise<ToolOutput> {
    const path = resolvePath(this.#base, input.path);
    await using file = await openRegularFile(path, constants.O_RDWR);
    const { size } = await file.stat();
    if (size > maxBytes) return failure(`${path} has ${size} bytes; at most ${maxBytes} can be edited.`);
    const bytes = await file.readFile();
    if (!isUtf8(bytes)) return failure(`${path} is not UTF-8 text.`);
    const parts = bytes.toString("utf8").split(input.old_text);
    const count = parts.length - 1;
    if (count === 0) return failure(notFound(path, bytes, input.old_text));
    if (count > 1 && input.replace_all !== true) {
      return failure(`old_text stands ${count} times in ${path}; give more of its surroundings, or set replace_all.`);
    }
    const changed = Buffer.from(parts.join(input.new_text));
    await file.write(changed, 0, changed.length, 0);
    await file.truncate(changed.length);
    return success(`Replaced ${count} ${count === 1 ? "occurrence" : "occurrences"} in ${path}.`);
  }
}

function notFound(path: string, bytes: Buffer, oldText: string): string {
  const hint = bytes.includes("\r\n") && oldText.includes("\n") ? " Its lines end with CR LF." : "";
  return `old_text does not stand in ${path}.${hint} Read the file and copy the text exactly.`;
}
