import { piecesOf, startModelServer } from "./model-server.ts";
import type { ModelScript, ModelServer, ModelServerRequest, ScriptedAnswer, WireFormat } from "./model-server.ts";

interface WireBlock {
  readonly type: string;
  readonly text?: string;
  readonly content?: string | readonly WireBlock[];
}
interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly WireBlock[];
}

export const messagesFormat: WireFormat = {
  basePath: "",
  completionPath: "/v1/messages",
  modelsPath: "/v1/models",
  parse(body) {
    const system = (body["system"] ?? []) as readonly { text: string }[];
    const tools = (body["tools"] ?? []) as readonly { name: string }[];
    return {
      system: system.map(({ text }) => text).join("\n\n"),
      messages: (body["messages"] as readonly WireMessage[]).flatMap(splitMessage),
      tools: tools.map(({ name }) => name),
    };
  },
  stream: streamAnswer,
  error: ({ message, kind, status }) => ({
    type: "error",
    error: { type: kind ?? (status === 529 ? "overloaded_error" : "invalid_request_error"), message },
  }),
};

/** A server that speaks the Messages format as Anthropic does, and answers as the script says. */
export function startAnthropicServer(script: ModelScript): Promise<ModelServer> {
  return startModelServer(messagesFormat, script);
}

/** Results of tools come in a user's message there, in front of what the user said. */
function splitMessage({ role, content }: WireMessage): ModelServerRequest["messages"][number][] {
  const results = content
    .filter((block) => block.type === "tool_result")
    .map((block) => ({ role: "tool" as const, text: textOf(block.content ?? "") }));
  const text = content
    .filter((block) => block.type === "text")
    .map((block) => block.text ?? "")
    .join("\n\n");
  return text === "" && role === "user" ? results : [...results, { role, text }];
}

/** Images are named only: what they are is in the request's body. */
function textOf(content: string | readonly WireBlock[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? (block.text ?? "") : `(${block.type})`)).join("\n");
}

function streamAnswer(answer: ScriptedAnswer, request: ModelServerRequest): { pieces: string[]; end: string[] } {
  const usage = answer.usage === null ? {} : inputUsage(answer);
  const message = {
    id: `msg_${request.index}`,
    type: "message",
    role: "assistant",
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const texts = answer.text === undefined || answer.text === "" ? [] : [textBlock(answer.text, answer.pieceChars)];
  const calls = (answer.toolCalls ?? []).map((call, index) => ({
    start: { type: "tool_use", id: call.id ?? `toolu_${request.index}_${index}`, name: call.name, input: {} },
    deltas: piecesOf(JSON.stringify(call.input), answer.pieceChars).map((part) => ({
      type: "input_json_delta",
      partial_json: part,
    })),
  }));
  const blocks = [...texts, ...calls].flatMap(({ start, deltas }, index) => [
    event({ type: "content_block_start", index, content_block: start }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
    event({ type: "content_block_stop", index }),
  ]);
  const outputUsage = answer.usage === null ? {} : { output_tokens: answer.usage?.output ?? 10 };
  return {
    pieces: [event({ type: "message_start", message }), event({ type: "ping" }), ...blocks],
    end: [
      event({
        type: "message_delta",
        delta: { stop_reason: stopReasonOf(answer), stop_sequence: null },
        usage: outputUsage,
      }),
      event({ type: "message_stop" }),
    ],
  };
}

function textBlock(text: string, pieceChars: number | undefined): { start: object; deltas: object[] } {
  const deltas = piecesOf(text, pieceChars).map((part) => ({ type: "text_delta", text: part }));
  return { start: { type: "text", text: "" }, deltas };
}

function inputUsage(answer: ScriptedAnswer): object {
  const { input, cached = 0 } = answer.usage ?? { input: 100 };
  return {
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: 1,
  };
}

function stopReasonOf(answer: ScriptedAnswer): string {
  if (answer.stop === "length") return "max_tokens";
  if (answer.stop === "refusal") return "refusal";
  return (answer.toolCalls ?? []).length > 0 ? "tool_use" : "end_turn";
}

function event(data: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
