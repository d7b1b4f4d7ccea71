import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Transcription {
  readonly authorization: string | undefined;
  readonly model: string;
  readonly fileName: string;
  readonly bytes: Buffer;
}

/**
 * A provider's `/audio/transcriptions`, after OpenAI's documents: it wants a key, a model, and a file with a name that
 * it knows.
 */
export async function startTranscriptionServer(said: string | { readonly status: number; readonly body: string }) {
  const requests: Transcription[] = [];
  const server = createServer((request, response) => {
    const answer = (status: number, body: string): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    };
    void (async () => {
      const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
      const headers = { "content-type": request.headers["content-type"] ?? "" };
      const form = await new Response(Buffer.concat(chunks), { headers }).formData();
      const [model, file] = [form.get("model"), form.get("file")];
      if (request.url !== "/v1/audio/transcriptions" || typeof model !== "string" || !(file instanceof File))
        return answer(400, JSON.stringify({ error: { message: "no model, or no file" } }));
      if (!/\.(?:flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm)$/.test(file.name))
        return answer(400, JSON.stringify({ error: { message: "Unrecognized file format." } }));
      const bytes = Buffer.from(await file.arrayBuffer());
      requests.push({ authorization: request.headers.authorization, model, fileName: file.name, bytes });
      if (typeof said === "string") answer(200, JSON.stringify({ text: said }));
      else answer(said.status, said.body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    url,
    requests,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
