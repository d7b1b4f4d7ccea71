import type { EffortStyle } from "./effort.ts";

/** Known traits of a Chat Completions server. */
export interface ServerTraits {
  readonly effort: EffortStyle;
  /** Newer name of the output limit, required by OpenAI itself; most other servers know only the older one. */
  readonly outputLimit?: "max_completion_tokens";
  /** Refuses tool calls without the preceding reasoning in this field. */
  readonly wantsThoughts?: boolean;
  /** Refuses tool calls without a signature. */
  readonly wantsSignatures?: boolean;
  /** Requires call ids of exactly nine letters and digits. */
  readonly shortCallIds?: boolean;
  /** Requires an answer of the model between a tool result and a member's message. */
  readonly answersTools?: boolean;
}
