import type { Part, UserContent } from "../chats/part.ts";
import type { Origin } from "../people/origin.ts";

/** A tool call as the model made it. `input` is whatever JSON the model produced: unchecked. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** Result of a call: plain text is its output, anything else has parts. */
export type ToolResult = { readonly callId: string; readonly isError: boolean } & (
  | { readonly output: string; readonly parts?: undefined }
  | { readonly parts: readonly Part[]; readonly output?: undefined }
);

/**
 * A model's reasoning in its vendor's form. Returned unchanged, and only to the model that made it. Never shown to
 * people.
 */
export type Thoughts = readonly Readonly<Record<string, unknown>>[];

/** The conversation as every provider gets it; each adapter turns it into its vendor's wire format. */
export type ModelMessage =
  | ({ readonly role: "user" } & UserContent)
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly toolCalls: readonly ToolCall[];
      /** `by`: the `provider/model` whose thoughts they are. */
      readonly thoughts?: { readonly by: string; readonly items: Thoughts } | undefined;
    }
  | { readonly role: "tool"; readonly results: readonly ToolResult[] };

/** A tool as described to the model; `inputSchema` is a JSON Schema object. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A tool as a conversation was offered it. */
export interface OfferedTool extends ToolDefinition {
  /** Origins of its name, description and schema. */
  readonly origins: readonly Origin[];
}

/**
 * Token counts as the vendor reported them. What was read from its prompt cache, and what was written to it, are parts
 * of `inputTokens`.
 */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  /** Undefined: nothing, or the vendor does not say. */
  readonly writtenInputTokens?: number | undefined;
  readonly outputTokens: number;
  /** The vendor did not say: these are our own estimates. */
  readonly isEstimate?: true | undefined;
}

/** `end`: finished. `tool-calls`: wants results. `length`: cut at the output limit. `refusal`: the vendor declined. */
export const stopReasons = ["end", "tool-calls", "length", "refusal"] as const;

export type StopReason = (typeof stopReasons)[number];

export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly stop: StopReason;
  readonly usage: ModelUsage;
  /** `provider/model` that answered. */
  readonly model: string;
  /** Undefined: none came, or the answer was cut, so that they are of no use. */
  readonly thoughts?: Thoughts | undefined;
}
