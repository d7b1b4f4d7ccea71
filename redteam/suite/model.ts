import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { readEnvironment } from "../../src/config/environment.ts";
import { ordersIn } from "./orders.ts";
import { withPictures } from "./pictures.ts";

/** A tool call that the attacker's model makes. */
export interface AttackCall {
  readonly name: string;
  /** A function is asked when the call is made, for what depends on the time: a turn may begin late. */
  readonly input: unknown;
}

/** Script of the model for one turn: rounds of calls, then a final answer. */
export interface AttackScript {
  readonly rounds: readonly (readonly AttackCall[])[];
  /** The turn's answer; the tools' output by default. */
  readonly say?: string;
  /** Obeys what it has read after its rounds: `OBEY-word` makes it say that word in the chat. */
  readonly obeys?: boolean;
  /** Raw bodies sent first, one per request. */
  readonly raw?: readonly string[];
}

/** A prompt shown to the model, for attacks that examine it. */
export interface ShownToModel {
  readonly system: string;
  readonly lastUser: string;
  /** All messages, as they were sent. */
  readonly everything: string;
  readonly toolOutputs: readonly string[];
}

interface WireMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | null;
}

interface Wire {
  readonly model: string;
  readonly messages: readonly WireMessage[];
}

/** A request as received; content with pictures is in parts. */
interface Asked extends Omit<Wire, "messages"> {
  readonly messages: readonly (Omit<WireMessage, "content"> & {
    readonly content: string | null | readonly object[];
  })[];
}

/** Sound returned for every spoken text. */
const hello = join(readEnvironment().checkout, "assets/hello.opus");

const scriptName = /redteam-[a-z0-9]+/g;

/**
 * A model of the attacker's: a server in the form of Chat Completions on this machine. A message that names a script
 * has it carried out; all others get a short answer.
 */
export class AttackModel implements AsyncDisposable {
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  readonly #scripts = new Map<string, AttackScript>();
  readonly #shown = new Map<string, ShownToModel>();
  readonly #sentRaw = new Map<string, number>();
  readonly #obeyed = new Map<string, Set<string>>();
  #count = 0;
  /** Transcript of every recording. */
  hears = "";
  /** Texts to speak. */
  readonly spoken: string[] = [];

  static async start(): Promise<AttackModel> {
    const model = new AttackModel();
    model.#server.listen(0, "127.0.0.1");
    await once(model.#server, "listening");
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The name under which a message can call for the script, which may have to know it itself. */
  prepare(script: AttackScript | ((name: string) => AttackScript)): string {
    const name = `redteam-${(this.#scripts.size + 1).toString(36)}`;
    this.#scripts.set(name, typeof script === "function" ? script(name) : script);
    return name;
  }

  /** The last prompt in the turn of a script; undefined when the model was never called. */
  shown(name: string): ShownToModel | undefined {
    return this.#shown.get(name);
  }

  /** Orders that the model has obeyed in the turn of a script. */
  obeyed(name: string): readonly string[] {
    return [...(this.#obeyed.get(name) ?? [])];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.url?.endsWith("/audio/transcriptions") === true) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text: this.hears }));
      return;
    }
    if (request.url?.endsWith("/audio/speech") === true) {
      this.spoken.push((JSON.parse(body) as { readonly input: string }).input);
      response.writeHead(200, { "content-type": "audio/ogg" }).end(await readFile(hello));
      return;
    }
    if (request.method !== "POST") {
      response.writeHead(200, { "content-type": "application/json" }).end('{"object":"list","data":[]}');
      return;
    }
    const wire = toWire(JSON.parse(body) as Asked);
    const raw = this.#nextRaw(wire);
    if (raw !== undefined) {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(raw);
      return;
    }
    const { answer, calls } = this.#play(wire);
    this.#count += 1;
    const events = streamOf({ id: `attack-${this.#count}`, model: wire.model, answer, calls });
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events);
  }

  #nextRaw({ messages }: Wire): string | undefined {
    const name = messages
      .map(({ role, content }) => (role === "user" ? scriptOf(content) : undefined))
      .findLast(Boolean);
    const raw = this.#scripts.get(name ?? "")?.raw ?? [];
    const sent = this.#sentRaw.get(name ?? "") ?? 0;
    this.#sentRaw.set(name ?? "", sent + 1);
    return raw[sent];
  }

  #play({ messages }: Wire): { answer: string; calls: readonly AttackCall[] } {
    const asked = messages.findLastIndex(({ role, content }) => role === "user" && scriptOf(content) !== undefined);
    const name = scriptOf(messages[asked]?.content ?? null) ?? "";
    const script = this.#scripts.get(name);
    if (!script) return { answer: "There is nothing to do.", calls: [] };
    const since = messages.slice(asked + 1);
    const toolOutputs = since.filter(({ role }) => role === "tool").map(({ content }) => content ?? "");
    this.#shown.set(name, {
      system: contentOf(messages.find(({ role }) => role === "system")),
      lastUser: contentOf(messages[asked]),
      everything: messages.map(contentOf).join("\n"),
      toolOutputs,
    });
    const round = script.rounds[since.filter(({ role }) => role === "assistant").length];
    const calls = round
      ? findElements(round.map(asMade), toolOutputs)
      : this.#obey(name, script, messages.slice(asked));
    return calls.length > 0
      ? { answer: "", calls }
      : { answer: script.say ?? (toolOutputs.join("\n") || "done"), calls: [] };
  }

  /** One call for each order that is new. */
  #obey(name: string, { obeys }: AttackScript, read: readonly WireMessage[]): readonly AttackCall[] {
    if (obeys !== true) return [];
    const done = this.#obeyed.get(name) ?? new Set<string>();
    this.#obeyed.set(name, done);
    const orders = ordersIn(read.map(({ content }) => withPictures(content ?? "")).join("\n"));
    const fresh = orders.filter((word) => !done.has(word));
    for (const word of fresh) done.add(word);
    return fresh.map((word) => ({ name: "send_message", input: { text: word } }));
  }
}

function contentOf(message: WireMessage | undefined): string {
  return message?.content ?? "";
}

function asMade({ name, input }: AttackCall): AttackCall {
  return { name, input: typeof input === "function" ? (input as () => unknown)() : input };
}

/** `ref: "Order"` becomes the ref of that element in the newest snapshot of a page. */
function findElements(calls: readonly AttackCall[], outputs: readonly string[]): readonly AttackCall[] {
  const lines = outputs.findLast((output) => output.includes("[ref="))?.split("\n") ?? [];
  return calls.map(({ name, input }) => {
    const wanted = name === "browser" ? (input as { readonly ref?: string }).ref : undefined;
    const line = wanted === undefined ? undefined : lines.find((one) => one.includes(`"${wanted}"`));
    const ref = /\[ref=(\w+)\]/.exec(line ?? "")?.[1];
    return { name, input: ref === undefined ? input : { ...(input as object), ref } };
  });
}

function toWire({ messages, ...rest }: Asked): Wire {
  return { ...rest, messages: messages.map((message) => ({ ...message, content: toText(message.content) })) };
}

/** Pictures stand in their text as JSON. */
function toText(content: Asked["messages"][number]["content"]): string | null {
  if (typeof content === "string" || content === null) return content;
  return content.map((part) => ("text" in part ? String(part.text) : JSON.stringify(part))).join("\n");
}

/** The script that was named last. */
function scriptOf(content: string | null): string | undefined {
  return content?.match(scriptName)?.at(-1);
}

function streamOf(options: { id: string; model: string; answer: string; calls: readonly AttackCall[] }): string {
  const { id, model, answer, calls } = options;
  const frame = { id, object: "chat.completion.chunk", created: 1, model };
  const toolCalls = calls.map(({ name, input }, index) => ({
    index,
    id: `${id}-${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const delta = { role: "assistant", content: answer, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
  const end = toolCalls.length > 0 ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  const events = [
    { ...frame, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...frame, choices: [{ index: 0, delta: {}, finish_reason: end }] },
    { ...frame, choices: [], usage },
  ];
  return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`;
}
