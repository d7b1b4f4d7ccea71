import type { EffortStyle } from "./effort.ts";

/** What a server of Chat Completions is known to be before it was asked. */
export interface ServerTraits {
  readonly effort: EffortStyle;
  /** OpenAI itself wants the newer name of the output limit, most other servers know only the older one. */
  readonly outputLimit?: "max_completion_tokens";
  /** It refuses calls of tools that come back without what was thought before them, in this field. */
  readonly wantsThoughts?: boolean;
  /** It refuses calls of tools that come back without a signature beside them. */
  readonly wantsSignatures?: boolean;
  /** Ids of calls have exactly nine letters and digits. */
  readonly shortCallIds?: boolean;
  /** People may not speak straight after a tool: the model has to say something in between. */
  readonly answersTools?: boolean;
}
