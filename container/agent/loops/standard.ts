import type { RunnableTool, Toolbox } from "../tools/toolbox.ts";
import type { AgentLoop, ToolCall, ToolResult, TurnHost, TurnResult } from "./agent-loop.ts";

/** Asks, runs the tools, asks again, until an answer has no tool calls. */
export class StandardLoop implements AgentLoop {
  readonly #toolbox: Toolbox;

  constructor(toolbox: Toolbox) {
    this.#toolbox = toolbox;
  }

  async runTurn(host: TurnHost): Promise<TurnResult> {
    const tools = new Map(host.tools.map((tool) => [tool.name, this.#toolbox.toolFor(tool)]));
    let results: readonly ToolResult[] = [];
    for (;;) {
      const answer = await host.askModel(results);
      if (answer.type === "model-failure") return { outcome: "failed", text: answer.reason };
      if (answer.toolCalls.length === 0) return { outcome: "done", text: answer.text };
      results = await runCalls(answer.toolCalls, { host, tools });
    }
  }
}

interface Turn {
  readonly host: TurnHost;
  readonly tools: ReadonlyMap<string, RunnableTool>;
}

/**
 * In the order of the calls; those that only read run together with their neighbours of that kind. So a command sees
 * the file that the call before it wrote.
 */
async function runCalls(calls: readonly ToolCall[], turn: Turn): Promise<ToolResult[]> {
  const results: ToolResult[] = [];
  for (let next = 0; next < calls.length;) {
    const group = callsAtOnce(calls.slice(next), turn);
    results.push(...(await Promise.all(group.map((call) => runCall(call, turn)))));
    next += group.length;
  }
  return results;
}

function callsAtOnce(calls: readonly ToolCall[], { tools }: Turn): readonly ToolCall[] {
  const writer = calls.findIndex((call) => tools.get(call.name)?.readsOnly !== true);
  if (writer === -1) return calls;
  return calls.slice(0, Math.max(1, writer));
}

async function runCall(call: ToolCall, { host, tools }: Turn): Promise<ToolResult> {
  host.signal.throwIfAborted();
  using output = host.outputOf(call.id);
  const show = output && ((chunk: Uint8Array) => output.write(chunk));
  const context = { signal: host.signal, askHost: host.askTool.bind(host, call.id), approved: call.approved, show };
  await host.progress(progressText(call));
  const missing = { output: `There is no tool ${call.name}.`, isError: true };
  const result = (await tools.get(call.name)?.run(call.input, context)) ?? missing;
  return { callId: call.id, ...result };
}

/** The tool's name and the beginning of what matters of its input. */
function progressText({ name, input }: ToolCall): string {
  const values = typeof input === "object" && input !== null ? Object.values(input) : [];
  const first = values.find((value) => typeof value === "string") ?? "";
  return `${name}: ${first.slice(0, 200)}`.toWellFormed();
}
