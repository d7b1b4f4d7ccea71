import type { AgentToolResult, HostPayload } from "../../../src/protocol/messages.ts";
import type { GivenPage } from "../../../src/protocol/pages.ts";
import type { AnnouncedTool, ToolOutput } from "../../../src/protocol/tools.ts";

export type ModelResponse = Extract<HostPayload, { type: "model-response" | "model-failure" }>;
export type ToolCall = Extract<HostPayload, { type: "model-response" }>["toolCalls"][number];

export type ToolResult = Readonly<AgentToolResult>;

/** The host's answer to a call. */
export interface HostOutput extends ToolOutput {
  /** A page whose text follows the output. */
  readonly page?: GivenPage | undefined;
}

/** Live output of a running call. */
export interface CallOutput extends Disposable {
  write(chunk: Uint8Array): void;
}

/** The host as seen by a loop during one turn. All of it rejects once the turn is cancelled. */
export interface TurnHost {
  readonly signal: AbortSignal;
  /** Tools that the model may call in this turn. */
  readonly tools: readonly AnnouncedTool[];
  /** Gives the results of the last answer's calls and gets the next answer, or why there is none. */
  askModel(append: readonly ToolResult[]): Promise<ModelResponse>;
  /** Has a tool run by the host. */
  askTool(callId: string, name: string, input: unknown): Promise<HostOutput>;
  /** Opens live output for a call, if somebody watches; the caller ends it. */
  outputOf(callId: string): CallOutput | undefined;
  /** A sign of life. */
  progress(text: string): Promise<void>;
}

export interface TurnResult {
  readonly outcome: "done" | "failed";
  readonly text: string;
}

/** Works on turns: decides what the model is asked and runs the tools that it asks for. Keeps nothing between turns. */
export interface AgentLoop {
  /** May reject: the turn then fails with the error's message, or is cancelled if it was. */
  runTurn(host: TurnHost): Promise<TurnResult>;
}
