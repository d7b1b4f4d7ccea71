import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A tool call as a scripted model makes it. Without an id it gets one that is never used twice. */
interface ScriptedToolCall {
  readonly id?: string;
  readonly name: string;
  readonly input: unknown;
}

/** An answer, streamed in the vendor's format. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Left out: some numbers. `null`: the server reports none. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number } | null;
  /** `length`: cut at the output limit. `refusal`: declined. Left out: as the content says. */
  readonly stop?: "length" | "refusal";
  /** Characters of each piece of text and of tool input. Default 7. */
  readonly pieceChars?: number;
  /** Awaited when its text has been sent, before the answer ends. */
  readonly holds?: Promise<unknown>;
}

/** Something else than an answer. */
type ScriptedFault =
  /**
   * Its own HTTP answer, such as 429 with `retry-after`. The body of an error has the vendor's form where none is
   * given.
   */
  | {
      readonly fault: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly message?: string;
      readonly kind?: string;
    }
  /** The beginning of an answer, then the connection is cut. */
  | { readonly fault: "cut"; readonly answer: ScriptedAnswer }
  /** The beginning of an answer (nothing at all without one), then nothing more, and the connection stays open. */
  | { readonly fault: "silence"; readonly answer?: ScriptedAnswer }
  /** An event stream with exactly these events, in the given form. */
  | { readonly fault: "raw"; readonly body: string; readonly contentType?: string }
  /** The connection is closed before anything is answered. */
  | { readonly fault: "hang-up" };

export type ScriptedReply = ScriptedAnswer | ScriptedFault;

/** A request as the server got it, with the parts that scripts look at whatever the vendor's format. */
export interface ModelServerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly model: string;
  readonly system: string;
  /** The conversation, with results of tools under the role `tool`. */
  readonly messages: readonly { readonly role: "user" | "assistant" | "tool"; readonly text: string }[];
  /** Text of the last message of a user or a tool. */
  readonly lastText: string;
  /** Outputs of tools that have come since the last answer. */
  readonly toolOutputs: readonly string[];
  readonly tools: readonly string[];
  /** Counts from 0. */
  readonly index: number;
  /** Reason of a refusal before the script was asked. */
  readonly refused?: string | undefined;
}

/** Answers of the server; called once per completion request. */
export type ModelScript = (request: ModelServerRequest) => ScriptedReply | Promise<ScriptedReply>;

export interface ModelServer extends AsyncDisposable {
  /** For `baseUrl` in the configuration. */
  readonly url: string;
  /** The requests for completions, in the order in which they came. */
  readonly requests: readonly ModelServerRequest[];
}

/** A vendor's format on top of a plain HTTP server. */
export interface WireFormat {
  readonly basePath: string;
  readonly completionPath: string;
  readonly modelsPath: string;
  readonly parse: (
    body: Readonly<Record<string, unknown>>,
  ) => Pick<ModelServerRequest, "system" | "messages" | "tools">;
  /** The pieces of the event stream. Without the end they are those of an answer that broke off. */
  readonly stream: (answer: ScriptedAnswer, request: ModelServerRequest) => { pieces: string[]; end: string[] };
  readonly error: (fault: { status: number; message: string; kind: string | undefined }) => unknown;
  /** Looks at each request as the vendor does; left out: all are taken. */
  readonly refuse?: (body: Readonly<Record<string, unknown>>) => { status: number; message: string } | undefined;
}

/** Starts a server on a free port of this machine. */
export async function startModelServer(format: WireFormat, script: ModelScript): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    if (incoming.url?.startsWith(format.modelsPath)) return sendJson(response, 200, { data: [], has_more: false });
    if (incoming.url !== format.completionPath) return sendJson(response, 404, { error: { message: "no such path" } });
    const request = toRequest(incoming, body, requests.length);
    requests.push(request);
    const refusal = format.refuse?.(request.body as Readonly<Record<string, unknown>>);
    if (refusal) {
      Object.assign(request, { refused: refusal.message });
      return sendJson(response, refusal.status, format.error({ ...refusal, kind: undefined }));
    }
    return sendReply(response, await script(request), request);
  }

  function toRequest(incoming: IncomingMessage, text: string, index: number): ModelServerRequest {
    const body = JSON.parse(text) as Record<string, unknown>;
    const parsed = format.parse(body);
    const answered = parsed.messages.findLastIndex(({ role }) => role === "assistant");
    return {
      ...parsed,
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body,
      model: String(body["model"]),
      lastText: parsed.messages.at(-1)?.text ?? "",
      toolOutputs: parsed.messages
        .slice(answered + 1)
        .filter(({ role }) => role === "tool")
        .map((message) => message.text),
      index,
    };
  }

  async function sendReply(response: ServerResponse, reply: ScriptedReply, request: ModelServerRequest): Promise<void> {
    if (!("fault" in reply)) {
      const { pieces, end } = format.stream(reply, request);
      if (!reply.holds) return sendStream(response, [...pieces, ...end]);
      await writeAll(response, pieces);
      await reply.holds;
      return void response.end(end.join(""));
    }
    if (reply.fault === "hang-up") return void response.socket?.destroy();
    if (reply.fault === "raw") return sendStream(response, [reply.body], reply.contentType);
    if (reply.fault === "status") {
      const message = reply.message ?? "scripted fault";
      const body = reply.body ?? JSON.stringify(format.error({ status: reply.status, message, kind: reply.kind }));
      response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(body);
      return undefined;
    }
    if (reply.answer) await writeAll(response, format.stream(reply.answer, request).pieces);
    if (reply.fault === "cut") response.socket?.destroy();
    return undefined;
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${format.basePath}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function sendStream(
  response: ServerResponse,
  pieces: readonly string[],
  contentType = "text/event-stream",
): Promise<void> {
  await writeAll(response, pieces, contentType);
  response.end();
}

async function writeAll(
  response: ServerResponse,
  pieces: readonly string[],
  contentType = "text/event-stream",
): Promise<void> {
  response.writeHead(200, { "content-type": contentType });
  // A client that ends the connection is what some tests are about.
  await pipeline(Readable.from(pieces), response, { end: false }).catch(() => undefined);
}

/** Cuts a text into pieces of `chars` UTF-16 units, through the middle of pairs of surrogates too. */
export function piecesOf(text: string, chars = 7): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += chars) pieces.push(text.slice(start, start + chars));
  return pieces;
}
