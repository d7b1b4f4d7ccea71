import { piecesOf, startModelServer } from "./model-server.ts";
import type { ModelScript, ModelServer, ModelServerRequest, ScriptedAnswer, WireFormat } from "./model-server.ts";

interface WireMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | null | readonly { readonly type: string; readonly text?: string }[];
  readonly tool_calls?: readonly unknown[];
}

export const chatFormat: WireFormat = {
  basePath: "/v1",
  completionPath: "/v1/chat/completions",
  modelsPath: "/v1/models",
  parse(body) {
    const messages = body["messages"] as readonly WireMessage[];
    const tools = (body["tools"] ?? []) as readonly { function: { name: string } }[];
    return {
      system: textOf(messages.find(({ role }) => role === "system")?.content ?? null),
      messages: messages.flatMap(({ role, content }) => (role === "system" ? [] : [{ role, text: textOf(content) }])),
      tools: tools.map((tool) => tool.function.name),
    };
  },
  stream: streamAnswer,
  error: ({ message, kind }) => ({
    error: { message, type: kind ?? "invalid_request_error", param: null, code: kind ?? null },
  }),
};

/** A server that speaks the Chat Completions format as OpenAI does, and answers as the script says. */
export function startOpenAiServer(script: ModelScript): Promise<ModelServer> {
  return startModelServer(chatFormat, script);
}

/** Images are named only: what they are is in the request's body. */
function textOf(content: WireMessage["content"]): string {
  if (content === null || typeof content === "string") return content ?? "";
  return content.map(({ type, text }) => (type === "text" ? (text ?? "") : `(${type})`)).join("\n\n");
}

function streamAnswer(answer: ScriptedAnswer, request: ModelServerRequest): { pieces: string[]; end: string[] } {
  const chunk = (delta: unknown, finishReason: string | null = null): string =>
    event({ ...frame(request), choices: [{ index: 0, delta, finish_reason: finishReason }] });
  const texts = piecesOf(answer.text ?? "", answer.pieceChars).map((content) => chunk({ content }));
  const calls = (answer.toolCalls ?? []).flatMap((call, index) => {
    const id = call.id ?? `call_${request.index}_${index}`;
    const start = { index, id, type: "function", function: { name: call.name, arguments: "" } };
    const inputs = piecesOf(JSON.stringify(call.input), answer.pieceChars);
    return [
      chunk({ tool_calls: [start] }),
      ...inputs.map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })),
    ];
  });
  const isUsageWanted = (request.body as { stream_options?: { include_usage?: boolean } }).stream_options
    ?.include_usage;
  const usage = answer.usage === null || isUsageWanted !== true ? [] : [event(usageChunk(answer, request))];
  return {
    pieces: [chunk({ role: "assistant", content: "" }), ...texts, ...calls],
    end: [chunk({}, finishReasonOf(answer)), ...usage, "data: [DONE]\n\n"],
  };
}

function frame(request: ModelServerRequest): object {
  return { id: `chatcmpl-${request.index}`, object: "chat.completion.chunk", created: 1, model: request.model };
}

function usageChunk(answer: ScriptedAnswer, request: ModelServerRequest): object {
  const { input, output, cached = 0 } = answer.usage ?? { input: 100, output: 10 };
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
  return { ...frame(request), choices: [], usage };
}

function finishReasonOf(answer: ScriptedAnswer): string {
  if (answer.stop === "length") return "length";
  if (answer.stop === "refusal") return "content_filter";
  return (answer.toolCalls ?? []).length > 0 ? "tool_calls" : "stop";
}

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
