/*
 * A model without latency, in the Chat Completions format. "run: <command>" in the last message of a user is answered
 * with a call of the shell, everything else, and the call's result, with "ok". It looks at the end of the request only.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const lookedAtBytes = 128 * 1024;
let answers = 0;

const server = createServer((incoming, response) => {
  answer(incoming, response).catch((error: unknown) => response.destroy(error as Error));
});

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const command = commandIn(body.subarray(Math.max(0, body.length - lookedAtBytes)).toString("utf8"));
  answers += 1;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(eventsOf(command).join(""));
}

function commandIn(text: string): string | undefined {
  const said = text.lastIndexOf('"role":"user"');
  const result = text.lastIndexOf('"role":"tool"');
  if (result > said) return undefined;
  return /run: ([^"\\]+)/.exec(text.slice(Math.max(0, said)))?.[1];
}

function eventsOf(command: string | undefined): string[] {
  const frame = { id: `answer-${answers}`, object: "chat.completion.chunk", created: 1, model: "bench" };
  const event = (choice: object): string =>
    `data: ${JSON.stringify({ ...frame, choices: [{ index: 0, finish_reason: null, delta: {}, ...choice }] })}\n\n`;
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  const end = [`data: ${JSON.stringify({ ...frame, choices: [], usage })}\n\n`, "data: [DONE]\n\n"];
  if (command === undefined)
    return [event({ delta: { role: "assistant", content: "ok" } }), event({ finish_reason: "stop" }), ...end];
  const input = { name: "shell", arguments: JSON.stringify({ command }) };
  const call = { index: 0, id: `call-${answers}`, type: "function", function: input };
  return [
    event({ delta: { role: "assistant", content: "", tool_calls: [call] } }),
    event({ finish_reason: "tool_calls" }),
    ...end,
  ];
}

server.listen(0, "127.0.0.1", () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
});
process.on("disconnect", () => server.close());
