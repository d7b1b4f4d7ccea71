import type { RunnableTool } from "../tools/tool.ts";
import { failure } from "../tools/tool.ts";
import type { Engine, ToolCall, ToolResult, TurnHost, TurnResult } from "./engine.ts";

/** Asks, runs the tools, asks again, until an answer has no tool calls. */
export class StandardEngine implements Engine {
  readonly #tools: ReadonlyMap<string, RunnableTool>;

  constructor(tools: ReadonlyMap<string, RunnableTool>) {
    this.#tools = tools;
  }

  async runTurn(host: TurnHost): Promise<TurnResult> {
    let results: readonly ToolResult[] = [];
    for (;;) {
      const answer = await host.askModel(results);
      if (answer.type === "model-failure") return { outcome: "failed", text: answer.reason };
      if (answer.toolCalls.length === 0) return { outcome: "done", text: answer.text };
      results = await this.#runCalls(answer.toolCalls, host);
    }
  }

  /**
   * In the order of the calls; those that only read run together with their neighbours of that kind. So a command sees the
   * file that the call before it wrote.
   */
  async #runCalls(calls: readonly ToolCall[], host: TurnHost): Promise<ToolResult[]> {
    const results: ToolResult[] = [];
    for (let next = 0; next < calls.length;) {
      const group = this.#callsAtOnce(calls.slice(next));
      results.push(...(await Promise.all(group.map((call) => this.#runCall(call, host)))));
      next += group.length;
    }
    return results;
  }

  #callsAtOnce(calls: readonly ToolCall[]): readonly ToolCall[] {
    const writer = calls.findIndex((call) => this.#tools.get(call.name)?.readsOnly !== true);
    if (writer === -1) return calls;
    return calls.slice(0, Math.max(1, writer));
  }

  async #runCall(call: ToolCall, host: TurnHost): Promise<ToolResult> {
    host.signal.throwIfAborted();
    const tool = this.#tools.get(call.name);
    const context = {
      callId: call.id,
      signal: host.signal,
      askHost: host.askTool.bind(host, call.id),
    };
    await host.progress(progressText(call));
    const result = tool ? await tool.run(call.input, context) : failure(`There is no tool ${call.name}.`);
    return { callId: call.id, ...result };
  }
}

/** The tool's name and the beginning of what matters of its input. */
function progressText({ name, input }: ToolCall): string {
  const values = typeof input === "object" && input !== null ? Object.values(input) : [];
  const first = values.find((value) => typeof value === "string") ?? "";
  return `${name}: ${first.slice(0, 200)}`.toWellFormed();
}
