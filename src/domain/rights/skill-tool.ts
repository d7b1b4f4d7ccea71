import type { Risk } from "./policy.ts";

/** An argument of such a tool. */
export interface SkillToolArgument {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean";
  readonly description: string;
  readonly enum?: readonly string[] | undefined;
  /** Taken when the call says nothing of it; undefined: the call has to. */
  readonly default?: string | number | boolean | undefined;
}

/** A tool that a skill brings: a command that is run in the group's container, with values in it. */
export interface SkillTool {
  /** `<skill>__<tool>` */
  readonly name: string;
  readonly skill: string;
  readonly description: string;
  /** Kind, as in the source: a command line, a file of the skill with arguments, or an address to fetch. */
  readonly kind: string;
  readonly isAddress: boolean;
  /** Command as in the source, with `{{argument}}` for values. */
  readonly command: string;
  readonly args: readonly SkillToolArgument[];
  /** The least that each of its calls counts as; what its command does may be worse. */
  readonly risk: Risk;
  readonly timeoutSeconds: number;
  /** Alternating pieces: text, then the name of an argument. */
  readonly pieces: readonly string[];
  /** Arguments that may not begin with a hyphen. */
  readonly beginsWord: readonly string[];
}

/** Tools of one skill. */
export const mostSkillTools = 16;
