import { toolInputs } from "../../../src/protocol/tools.ts";
import { descriptionOf } from "./tool.ts";
import type { Tool, ToolContext, ToolInput, ToolOutput } from "./tool.ts";

/** Only the host can reach a chat; this asks it to. */
export class ChatTool<Name extends "send_message" | "react"> implements Tool<Name> {
  readonly name: Name;
  readonly description: string;
  readonly schema: (typeof toolInputs)[Name];
  readonly readsOnly = false;

  constructor(name: Name) {
    this.name = name;
    this.description = descriptionOf(name);
    this.schema = toolInputs[name];
  }

  execute(input: ToolInput<Name>, context: ToolContext): Promise<ToolOutput> {
    return context.askHost(this.name, input);
  }
}
