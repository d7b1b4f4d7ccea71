import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import * as z from "zod";

interface Speech {
  readonly authorization: string | undefined;
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  readonly format: string;
}

/** Reaction to a text: bytes, a refusal, or an answer that never begins or ends. */
export type SpeechAnswer =
  | Buffer
  | { readonly status: number; readonly body: string; readonly location?: string }
  | "endless"
  | "silent";

const speechRequest = z.strictObject({
  model: z.string().min(1),
  input: z.string().min(1).max(4_096),
  voice: z.string().min(1),
  response_format: z.enum(["mp3", "opus", "aac", "flac", "wav", "pcm"]),
});

/**
 * A provider's `/audio/speech`, after OpenAI's documents: it wants a key, a model, a voice, and a text of at most 4,096
 * characters.
 */
export async function startSpeechServer(say: (text: string) => SpeechAnswer) {
  const requests: Speech[] = [];
  /** Texts whose answers nobody waited for. */
  const cut: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
      const refusal = refusalOf(request);
      if (refusal) return refuse(response, refusal);
      const body = speechRequest.safeParse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      if (!body.success) return refuse(response, [400, z.prettifyError(body.error)]);
      const { model, input, voice, response_format: format } = body.data;
      requests.push({ authorization: request.headers.authorization, model, input, voice, format });
      response.on("close", () => {
        if (!response.writableFinished) cut.push(input);
      });
      return give(response, say(input));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    url,
    requests,
    cut,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refusalOf({ url, method, headers }: IncomingMessage): readonly [number, string] | undefined {
  if (url !== "/v1/audio/speech" || method !== "POST") return [404, "Unknown request URL"];
  if (!headers.authorization?.startsWith("Bearer sk-")) return [401, "You didn't provide an API key."];
  return headers["content-type"] === "application/json" ? undefined : [400, "Unsupported content type"];
}

function refuse(response: ServerResponse, [status, message]: readonly [number, string]): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));
}

function give(response: ServerResponse, answer: SpeechAnswer): void {
  if (answer === "silent") return;
  if (answer === "endless") return pour(response);
  if (Buffer.isBuffer(answer)) response.writeHead(200, { "content-type": "audio/ogg" }).end(answer);
  else response.writeHead(answer.status, answer.location ? { location: answer.location } : {}).end(answer.body);
}

function pour(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "audio/ogg" });
  const more = Buffer.alloc(1_000_000);
  const write = (): void => {
    while (!response.destroyed && response.write(more));
  };
  response.on("drain", write);
  write();
}
