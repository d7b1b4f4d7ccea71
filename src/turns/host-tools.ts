import type { ToolCall } from "../domain/model.ts";
import type { OutgoingDraft } from "../domain/message.ts";
import { AppError, toError } from "../lib/app-error.ts";
import { limits } from "../protocol/limits.ts";
import { toolInputs } from "../protocol/tools.ts";
import { draftFor, placeOf } from "./turn-parts.ts";
import type { TurnParts, TurnScope } from "./turn-parts.ts";

/** Messages, files and reactions that an agent may send in one turn besides its answer. */
const sendsPerTurn = 20;

/** What an agent asks the host to do for a tool call of the model. */
export interface HostToolRequest {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** A call of the model's, and what tells it from all others of the turn: models may give calls of several answers one id. */
interface OpenCall extends ToolCall {
  readonly key: string;
}

type Said = Pick<OutgoingDraft, "text" | "file" | "reaction">;

/**
 * The tools that only the host can run. What is done is what the *model* asked for and policy allowed, taken from the
 * store: the agent only says which call it is at, and where the file lies that the model named. Each call is done once,
 * however often it asks.
 */
export class HostTools {
  readonly #scope: TurnScope;
  readonly #parts: TurnParts;
  readonly #done = new Map<string, Promise<string>>();
  #oversteps = 0;

  constructor(scope: TurnScope, parts: TurnParts) {
    this.#scope = scope;
    this.#parts = parts;
  }

  /** Never rejects: what goes wrong is a result that the model can read. */
  async run(request: HostToolRequest): Promise<{ output: string; isError: boolean }> {
    try {
      return { output: await this.#once(await this.#openCall(request), request), isError: false };
    } catch (error) {
      return { output: toError(error).message, isError: true };
    }
  }

  async #openCall(request: HostToolRequest): Promise<OpenCall> {
    const last = await this.#parts.store.turns.lastStep(this.#scope.turn.id);
    const body = last?.body;
    if (body?.kind === "model" && !body.denied.some((result) => result.callId === request.callId)) {
      const call = body.answer.toolCalls.find((made) => made.id === request.callId);
      if (call && request.name === call.name) return { ...call, key: `${last?.seq} ${call.id}` };
    }
    const refusal = `No call ${request.callId} of ${request.name} is open in this turn.`;
    await this.overstepped(refusal);
    throw new AppError("bad_input", refusal);
  }

  /** Puts on record that the agent wanted what only the model can: somebody in the container speaks in its place. */
  async overstepped(reason: string): Promise<void> {
    this.#oversteps += 1;
    if (this.#oversteps <= limits.violations) {
      await this.#parts.publish({
        type: "agent.overstepped",
        ...placeOf(this.#scope),
        actor: "agent",
        data: { reason },
      });
    }
  }

  async #once(call: OpenCall, request: HostToolRequest): Promise<string> {
    const before = this.#done.get(call.key);
    if (before !== undefined) return before;
    if (this.#done.size >= sendsPerTurn) {
      throw new AppError("rate_limited", `At most ${sendsPerTurn} messages may be sent in one turn.`);
    }
    const doing = this.#do(call, request);
    this.#done.set(call.key, doing);
    return doing;
  }

  async #do(call: ToolCall, request: HostToolRequest): Promise<string> {
    if (call.name === "send_message") return this.#sendMessage(call);
    if (call.name === "send_file") return this.#sendFile(call, request);
    if (call.name === "react") return this.#react(call);
    throw new AppError("bad_input", `${call.name} is no tool of the host.`);
  }

  async #sendMessage(call: ToolCall): Promise<string> {
    const text = this.#parts.formatReply(toolInputs.send_message.parse(call.input).text, this.#scope);
    if (text === "") return "Nothing was sent: the text was empty.";
    await this.#enqueue({ text });
    return "Sent.";
  }

  /** Which file a relative path means is known in the container only; wherever it says, it is a file of this group's. */
  async #sendFile(call: ToolCall, request: HostToolRequest): Promise<string> {
    const { caption = "" } = toolInputs.send_file.parse(call.input);
    const { path } = toolInputs.send_file.parse(request.input);
    const { group } = this.#scope;
    const kept = await this.#parts.keepFile(group.name, path);
    const name = this.#parts.formatReply(kept.name, this.#scope) || "file";
    await this.#enqueue({ text: this.#parts.formatReply(caption, this.#scope), file: { ...kept, name } });
    return `Sent ${name} (${kept.mimeType}, ${kept.bytes} bytes).`;
  }

  async #react(call: ToolCall): Promise<string> {
    const { emoji } = toolInputs.react.parse(call.input);
    const { group, turn } = this.#scope;
    if (!this.#parts.canReact(group.channel)) {
      throw new AppError("bad_input", "This chat has no reactions; say it in words.");
    }
    if (!/^\p{RGI_Emoji}$/v.test(emoji)) throw new AppError("bad_input", "A reaction is exactly one emoji.");
    const message = (await this.#parts.store.messages.ofTurn(turn.id)).at(-1);
    if (!message) throw new AppError("not_found", "There is no message to react to.");
    await this.#enqueue({ text: "", reaction: { message: message.id, sender: message.sender.id, emoji } });
    return "Done.";
  }

  async #enqueue(said: Said): Promise<void> {
    const { group, turn } = this.#scope;
    const draft = { ...draftFor(group, { kind: "reply", inReplyTo: [], turn: turn.id, text: said.text }), ...said };
    await this.#parts.store.outbox.add(draft, this.#parts.clock.now());
    this.#parts.deliver();
  }
}
