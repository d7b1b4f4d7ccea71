import { constants } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

import { toolInputs } from "../../../src/protocol/tools.ts";
import { openRegularFile, resolvePath } from "./paths.ts";
import type { PathBase } from "./paths.ts";
import { descriptionOf, success } from "./tool.ts";
import type { Tool, ToolInput, ToolOutput } from "./tool.ts";

/** Writes a whole file and makes the folders it needs. */
export class WriteFileTool implements Tool<"write_file"> {
  readonly name = "write_file";
  readonly description = descriptionOf("write_file");
  readonly schema = toolInputs.write_file;
  readonly readsOnly = false;
  readonly #base: PathBase;

  constructor(base: PathBase) {
    this.#base = base;
  }

  async execute(input: ToolInput<"write_file">): Promise<ToolOutput> {
    const path = resolvePath(this.#base, input.path);
    await mkdir(dirname(path), { recursive: true });
    await using file = await openRegularFile(path, constants.O_WRONLY | constants.O_CREAT);
    await file.truncate();
    await file.writeFile(input.content);
    return success(`Wrote ${Buffer.byteLength(input.content)} bytes to ${path}.`);
  }
}
