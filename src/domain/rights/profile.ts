import type { Rule } from "./policy.ts";

/** The operator's profile for a kind of agent: its purpose and its limits. */
export interface Profile {
  readonly name: string;
  /** When it is of use, in a few words for the model that chooses one. */
  readonly description: string;
  /** Route of models; undefined: that of who asks. */
  readonly route: string | undefined;
  /** The only tools that there are with it; undefined: those of who asks. */
  readonly tools: readonly string[] | undefined;
  /** The only skills; undefined: those of who asks. */
  readonly skills: readonly string[] | undefined;
  /** Put before all other rules. All of them deny, so a profile takes away and never gives. */
  readonly rules: readonly Rule[];
  readonly instructions: string;
}
