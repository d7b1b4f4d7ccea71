/*
 * A model without latency that counts as a vendor does, in the Chat Completions format: four bytes of a prompt are a
 * token, and what a prompt has in common with one of the last few from its beginning on comes from the cache, by 128
 * tokens and from 1,024 on. It answers in a sentence, and with a summary where it is asked for one.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

const bytesPerToken = 4;
const cachedBy = 128;
const leastCached = 1_024;
const rememberedPrompts = 8;
const sentence = "That sounds good to me: let us meet at the harbour after lunch, and bring the small boat along. ";

const seen: Buffer[] = [];

const server = createServer((incoming, response) => {
  buffer(incoming)
    .then((body) => response.writeHead(200, { "content-type": "text/event-stream" }).end(answerTo(body)))
    .catch((error: unknown) => response.destroy(error as Error));
});

function answerTo(body: Buffer): string {
  const { messages, tools } = JSON.parse(body.toString("utf8")) as { messages: unknown[]; tools?: unknown };
  const prompt = Buffer.from(`${JSON.stringify(tools ?? [])}${messages.map((one) => JSON.stringify(one)).join(",")}`);
  const isSummary = JSON.stringify(messages.at(-1)).includes(String.raw`kind=\"compaction\"`);
  return eventsOf(sentence.repeat(isSummary ? 40 : 2), prompt).join("");
}

/** Tokens of the prompt that were seen before. */
function cachedOf(prompt: Buffer): number {
  const common = Math.max(0, ...seen.map((earlier) => commonBytes(earlier, prompt)));
  seen.unshift(prompt);
  seen.length = Math.min(seen.length, rememberedPrompts);
  const tokens = Math.floor(common / bytesPerToken / cachedBy) * cachedBy;
  return tokens < leastCached ? 0 : tokens;
}

/** By halves: comparing stretches is faster than looking at each byte. */
function commonBytes(one: Buffer, other: Buffer): number {
  let [same, different] = [0, Math.min(one.length, other.length) + 1];
  while (different - same > 1) {
    const middle = Math.floor((same + different) / 2);
    if (one.subarray(same, middle).equals(other.subarray(same, middle))) same = middle;
    else different = middle;
  }
  return same;
}

function choice(delta: object, finish_reason: string | null): object {
  return { choices: [{ index: 0, delta, finish_reason }] };
}

function eventsOf(text: string, prompt: Buffer): string[] {
  const frame = { id: "answer", object: "chat.completion.chunk", created: 1, model: "bench" };
  const event = (more: object): string => `data: ${JSON.stringify({ ...frame, ...more })}\n\n`;
  const usage = {
    prompt_tokens: Math.ceil(prompt.length / bytesPerToken),
    completion_tokens: Math.ceil(text.length / bytesPerToken),
    prompt_tokens_details: { cached_tokens: cachedOf(prompt) },
  };
  return [
    event(choice({ role: "assistant", content: text }, null)),
    event(choice({}, "stop")),
    event({ choices: [], usage }),
    "data: [DONE]\n\n",
  ];
}

server.listen(0, "127.0.0.1", () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
});
