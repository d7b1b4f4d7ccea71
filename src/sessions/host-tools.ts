import type { ToolCall } from "../domain/model.ts";
import { AppError, toError } from "../lib/app-error.ts";
import { toolInputs } from "../protocol/tools.ts";
import { draftFor } from "./turn-parts.ts";
import type { TurnParts, TurnScope } from "./turn-parts.ts";

/** Messages that an agent may send in one turn besides its answer. */
const sendsPerTurn = 20;

/** What an agent asks the host to do for a tool call of the model. */
export interface HostToolRequest {
  readonly callId: string;
  readonly name: string;
}

/**
 * The tools that only the host can run; today `send_message`. What is done is what the *model* asked for and policy
 * allowed, taken from the store: the agent only says which call it is at. Each call is done once, however often it asks.
 */
export class HostTools {
  readonly #scope: TurnScope;
  readonly #parts: TurnParts;
  readonly #sent = new Map<string, string>();

  constructor(scope: TurnScope, parts: TurnParts) {
    this.#scope = scope;
    this.#parts = parts;
  }

  /** Never rejects: what goes wrong is a result that the model can read. */
  async run(request: HostToolRequest): Promise<{ output: string; isError: boolean }> {
    try {
      return { output: await this.#sendMessage(await this.#openCall(request)), isError: false };
    } catch (error) {
      return { output: toError(error).message, isError: true };
    }
  }

  async #openCall(request: HostToolRequest): Promise<ToolCall> {
    const last = (await this.#parts.store.turns.steps(this.#scope.turn.id)).at(-1)?.body;
    if (last?.kind === "model" && !last.denied.some((result) => result.callId === request.callId)) {
      const call = last.answer.toolCalls.find((made) => made.id === request.callId);
      if (call?.name === "send_message" && request.name === call.name) return call;
    }
    throw new AppError("bad_input", `No call ${request.callId} of ${request.name} is open in this turn.`);
  }

  async #sendMessage(call: ToolCall): Promise<string> {
    const before = this.#sent.get(call.id);
    if (before !== undefined) return before;
    if (this.#sent.size >= sendsPerTurn) {
      throw new AppError("rate_limited", `At most ${sendsPerTurn} messages may be sent in one turn.`);
    }
    const text = this.#parts.formatReply(toolInputs.send_message.parse(call.input).text, this.#scope);
    const outcome = text === "" ? "Nothing was sent: the text was empty." : "Sent.";
    this.#sent.set(call.id, outcome);
    if (text !== "") await this.#enqueue(text);
    return outcome;
  }

  async #enqueue(text: string): Promise<void> {
    const { group, turn } = this.#scope;
    const draft = draftFor(group, { kind: "reply", text, inReplyTo: [], turn: turn.id });
    await this.#parts.store.outbox.add(draft, this.#parts.clock.now());
    this.#parts.deliver();
  }
}
