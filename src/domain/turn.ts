import type { ModelAnswer, ToolResult } from "./model.ts";

/** `running → done | failed | cancelled`; the last three are final. */
export type TurnState = "running" | "done" | "failed" | "cancelled";

/** From the triggering messages to the reply. */
export interface Turn {
  readonly id: string;
  readonly group: string;
  readonly session: string;
  /** Rises with each `/new`; history never crosses it. */
  readonly conversation: number;
  readonly state: TurnState;
  /** How many containers have worked on it: 1, or 2 after the first one died. */
  readonly attempts: number;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** Why it failed or was cancelled, as told in the chat. */
  readonly reason: string | undefined;
}

/** One thing that happened in a turn, stored before it is acted on. */
export type StepBody =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "model"; readonly answer: ModelAnswer; readonly denied: readonly ToolResult[] }
  | { readonly kind: "tools"; readonly results: readonly ToolResult[] };

/** `seq` orders the steps of a session; `tokens` is our estimate of what the step adds to the prompt. */
export interface Step {
  readonly seq: number;
  readonly turn: string;
  readonly at: number;
  readonly tokens: number;
  readonly body: StepBody;
}
