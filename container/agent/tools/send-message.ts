import { toolInputs } from "../../../src/protocol/tools.ts";
import { descriptionOf } from "./tool.ts";
import type { Tool, ToolContext, ToolInput, ToolOutput } from "./tool.ts";

/** Only the host can reach a chat; this asks it to. */
export class SendMessageTool implements Tool<"send_message"> {
  readonly name = "send_message";
  readonly description = descriptionOf("send_message");
  readonly schema = toolInputs.send_message;
  readonly readsOnly = false;

  execute(input: ToolInput<"send_message">, context: ToolContext): Promise<ToolOutput> {
    return context.askHost(this.name, input);
  }
}
