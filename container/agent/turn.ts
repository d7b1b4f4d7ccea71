import { toError } from "./to-error.ts";
import { limits } from "../../src/protocol/limits.ts";
import type { AgentPayload, HostPayload, JobLimits } from "../../src/protocol/messages.ts";
import type { AnnouncedTool } from "../../src/protocol/tools.ts";
import { OutputPieces } from "./output-pieces.ts";
import type { AgentLoop, CallOutput, HostOutput, ModelResponse, ToolResult, TurnHost } from "./loops/agent-loop.ts";
import { fitToolOutput } from "./text.ts";

export type TurnStart = Extract<HostPayload, { type: "turn-start" }>;
export type TurnEnd = Extract<AgentPayload, { type: "turn-end" }>;

/** Bytes of a message for results; the rest is for the envelope. */
const resultBytes = limits.messageBytes - 64 * 1024;
/** Tools that have not ended this long after a cancel are left to themselves. */
const cancelWaitMs = 3_000;

export interface TurnSurroundings {
  readonly send: (payload: AgentPayload) => Promise<void>;
  /** Present folder of the session's shell; undefined where its name is not text. */
  readonly directory: () => Promise<string | undefined>;
}

/** One turn as the agent works on it: connects the loop with what the host sends for this turn. */
export class Turn implements TurnHost {
  readonly id: string;
  readonly tools: readonly AnnouncedTool[];
  /** Limits of background jobs; undefined: none allowed. */
  readonly jobs: JobLimits | undefined;
  readonly #send: (payload: AgentPayload) => Promise<void>;
  readonly #directory: TurnSurroundings["directory"];
  readonly #abort = new AbortController();
  readonly #toolResponses = new Map<string, (output: HostOutput) => void>();
  #modelResponse: ((response: ModelResponse) => void) | undefined;
  /** True when the last answer's calls are watched. */
  #isWatched = false;
  /** Requests to the model so far; answers carry the number of theirs. */
  #requests = 0;

  /** `directory`: the present one of the session's shell. */
  constructor({ turn, tools, jobs }: TurnStart, { send, directory }: TurnSurroundings) {
    this.id = turn;
    this.tools = tools;
    this.jobs = jobs;
    this.#send = send;
    this.#directory = directory;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  cancel(reason: string): void {
    this.#abort.abort(new Error(reason));
  }

  /** Works until there is an end to tell the host. Never rejects. */
  async run(loop: AgentLoop): Promise<TurnEnd> {
    const work = loop.runTurn(this);
    try {
      const { outcome, text } = await this.#unlessCancelled(work);
      return this.#end(outcome, text);
    } catch (error) {
      if (!this.signal.aborted) return this.#end("failed", toError(error).message);
      await Promise.race([work.catch(() => undefined), waitAtMost(cancelWaitMs)]);
      return this.#end("cancelled", toError(this.signal.reason).message);
    }
  }

  /** Gives it what the host answered. What is not waited for is ignored. */
  deliver(payload: HostPayload): void {
    if (payload.type === "tool-response") {
      const { callId, isError, page } = payload;
      this.#toolResponses.get(callId)?.({ output: fitToolOutput(payload.output), isError, page });
      this.#toolResponses.delete(payload.callId);
    } else if (payload.type === "model-response" || payload.type === "model-failure") {
      // An answer to an earlier request comes too late; the host's count may be ahead when it took over a running turn.
      if (payload.request < this.#requests) return;
      this.#isWatched = payload.type === "model-response" && payload.outputs === true;
      this.#modelResponse?.(payload);
    }
  }

  async askModel(append: readonly ToolResult[]): Promise<ModelResponse> {
    this.#requests += 1;
    const { promise, resolve } = Promise.withResolvers<ModelResponse>();
    this.#modelResponse = resolve;
    const directory = await this.#directory();
    await this.#say({ type: "model-request", turn: this.id, append: fitTogether(append), directory });
    return this.#unlessCancelled(promise);
  }

  async askTool(callId: string, name: string, input: unknown): Promise<HostOutput> {
    const { promise, resolve } = Promise.withResolvers<HostOutput>();
    this.#toolResponses.set(callId, resolve);
    await this.#say({ type: "tool-request", turn: this.id, callId, name, input });
    return this.#unlessCancelled(promise);
  }

  outputOf(callId: string): CallOutput | undefined {
    if (!this.#isWatched) return undefined;
    return new OutputPieces((text) => this.#say({ type: "tool-output", turn: this.id, callId, text }));
  }

  progress(text: string): Promise<void> {
    return this.#say({ type: "progress", turn: this.id, text: text.slice(0, 500) });
  }

  async #say(payload: AgentPayload): Promise<void> {
    this.signal.throwIfAborted();
    await this.#send(payload);
  }

  #end(outcome: TurnEnd["outcome"], text: string): TurnEnd {
    return { type: "turn-end", turn: this.id, outcome, text: fitToolOutput(text, limits.textChars - 200) };
  }

  async #unlessCancelled<Value>(promise: Promise<Value>): Promise<Value> {
    const { promise: cancelled, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(toError(this.signal.reason));
    if (this.signal.aborted) onAbort();
    this.signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([promise, cancelled]);
    } finally {
      this.signal.removeEventListener("abort", onAbort);
    }
  }
}

/**
 * Results that are each short enough may be too long together: all are cut to the same length, as short as it takes.
 */
function fitTogether(results: readonly ToolResult[]): ToolResult[] {
  let fitted = [...results];
  for (let maxChars = limits.toolOutputChars / 2; Buffer.byteLength(JSON.stringify(fitted)) > resultBytes;) {
    fitted = results.map((result) => ({ ...result, output: fitToolOutput(result.output, maxChars) }));
    maxChars /= 2;
  }
  return fitted;
}

function waitAtMost(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}
