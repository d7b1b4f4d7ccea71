import { realpath } from "node:fs/promises";

import { containerPaths } from "../../../src/protocol/paths.ts";
import { toolInputs } from "../../../src/protocol/tools.ts";
import { type PathBase, resolvePath } from "./paths.ts";
import { descriptionOf, failure } from "./tool.ts";
import type { Tool, ToolContext, ToolInput, ToolOutput } from "./tool.ts";

/** Only the host can reach a chat; it takes the file from the group's folder by itself and follows no link there. */
export class SendFileTool implements Tool<"send_file"> {
  readonly name = "send_file";
  readonly description = descriptionOf("send_file");
  readonly schema = toolInputs.send_file;
  readonly readsOnly = false;
  readonly #base: PathBase;

  constructor(base: PathBase) {
    this.#base = base;
  }

  async execute(input: ToolInput<"send_file">, context: ToolContext): Promise<ToolOutput> {
    const path = await realpath(resolvePath(this.#base, input.path));
    if (!path.startsWith(`${containerPaths.group}/`)) {
      return failure(`Only files below ${containerPaths.group} can be sent. Copy ${path} there and send the copy.`);
    }
    return context.askHost(this.name, { ...input, path });
  }
}
