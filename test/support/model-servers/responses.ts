import { piecesOf, startModelServer } from "./model-server.ts";
import type { ModelScript, ModelServer, ModelServerRequest, ScriptedAnswer, WireFormat } from "./model-server.ts";

interface WireContent {
  readonly type: string;
  readonly text?: string;
}
interface WireItem {
  readonly type: string;
  readonly role?: "user" | "assistant";
  readonly content?: string | readonly WireContent[];
  readonly output?: string | readonly WireContent[];
}

export const responsesFormat: WireFormat = {
  basePath: "/v1",
  completionPath: "/v1/responses",
  modelsPath: "/v1/models",
  parse(body) {
    const tools = (body["tools"] ?? []) as readonly { name: string }[];
    return {
      system: typeof body["instructions"] === "string" ? body["instructions"] : "",
      messages: (body["input"] as readonly WireItem[]).flatMap(toMessage),
      tools: tools.map(({ name }) => name),
    };
  },
  stream: streamAnswer,
  error: ({ message, kind }) => ({
    error: { message, type: kind ?? "invalid_request_error", param: null, code: kind ?? null },
  }),
};

/** A server that speaks the Responses format as OpenAI does, and answers as the script says. */
export function startResponsesServer(script: ModelScript): Promise<ModelServer> {
  return startModelServer(responsesFormat, script);
}

/**
 * A call is its own item there, and an answer with calls alone has no message: it is shown as one without words.
 */
function toMessage(item: WireItem, index: number, all: readonly WireItem[]): ModelServerRequest["messages"][number][] {
  if (item.type === "function_call_output") return [{ role: "tool", text: textOf(item.output) }];
  if (item.type === "message") return [{ role: item.role ?? "user", text: textOf(item.content) }];
  const before = all[index - 1];
  const isFirst = before?.type !== "function_call" && before?.role !== "assistant";
  return item.type === "function_call" && isFirst ? [{ role: "assistant", text: "" }] : [];
}

/** Images are named only: what they are is in the request's body. */
function textOf(content: string | readonly WireContent[] = ""): string {
  if (typeof content === "string") return content;
  return content.map(({ type, text }) => text ?? `(${type})`).join("\n\n");
}

function streamAnswer(answer: ScriptedAnswer, request: ModelServerRequest): { pieces: string[]; end: string[] } {
  let sequence = 0;
  const event = (type: string, data: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`;
  const response = { id: `resp_${request.index}`, object: "response", model: request.model, output: [] };
  const texts = answer.text === undefined || answer.text === "" ? [] : [answer.text];
  const messages = texts.map((text, index) => textItem(text, { index, answer, event }));
  const calls = (answer.toolCalls ?? []).map((call, index) => {
    const item = {
      id: `fc_${request.index}_${index}`,
      type: "function_call",
      call_id: call.id ?? `call_${request.index}_${index}`,
      name: call.name,
      arguments: JSON.stringify(call.input),
    };
    const at = { output_index: texts.length + index, item_id: item.id };
    return [
      event("response.output_item.added", { ...at, item: { ...item, arguments: "", status: "in_progress" } }),
      ...piecesOf(item.arguments, answer.pieceChars).map((delta) =>
        event("response.function_call_arguments.delta", { ...at, delta }),
      ),
      event("response.function_call_arguments.done", { ...at, arguments: item.arguments, name: item.name }),
      event("response.output_item.done", { ...at, item: { ...item, status: "completed" } }),
    ];
  });
  const begun = event("response.created", { response: { ...response, status: "in_progress", usage: null } });
  const pieces = [begun, ...messages.flat(), ...calls.flat()];
  return { pieces, end: [endOf(answer, { response, event })] };
}

type ToEvent = (type: string, data: object) => string;

function textItem(
  text: string,
  { index, answer, event }: { readonly index: number; readonly answer: ScriptedAnswer; readonly event: ToEvent },
): string[] {
  const isRefusal = answer.stop === "refusal";
  const at = { output_index: index, item_id: `msg_${index}`, content_index: 0 };
  const part = isRefusal ? { type: "refusal", refusal: text } : { type: "output_text", text, annotations: [] };
  const item = { id: at.item_id, type: "message", role: "assistant" };
  const kind = isRefusal ? "refusal" : "output_text";
  return [
    event("response.output_item.added", { ...at, item: { ...item, status: "in_progress", content: [] } }),
    event("response.content_part.added", { ...at, part: { ...part, ...(isRefusal ? { refusal: "" } : { text: "" }) } }),
    ...piecesOf(text, answer.pieceChars).map((delta) => event(`response.${kind}.delta`, { ...at, delta })),
    event(`response.${kind}.done`, { ...at, ...(isRefusal ? { refusal: text } : { text }) }),
    event("response.output_item.done", { ...at, item: { ...item, status: "completed", content: [part] } }),
  ];
}

function endOf(
  answer: ScriptedAnswer,
  { response, event }: { readonly response: object; readonly event: ToEvent },
): string {
  const { input, output, cached = 0 } = answer.usage ?? { input: 100, output: 10 };
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  const isCut = answer.stop === "length";
  const status = isCut ? "incomplete" : "completed";
  return event(`response.${status}`, {
    response: {
      ...response,
      status,
      incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
      usage: answer.usage === null ? null : usage,
    },
  });
}
