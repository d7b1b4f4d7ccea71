/**
 * What a tool may want of the skills of the turn's group. Everything that is rejected is a ToolError, or a fault of
 * ours.
 */
export interface SkillPort {
  /** All of them, as the model is shown them. */
  readonly available: () => string;
  /** Those for a task, by what its text names, its type, and what is for every task. */
  readonly forTask: (task: {
    readonly taskType?: string | undefined;
    readonly text?: string | undefined;
  }) => Promise<string>;
  /** What SKILL.md says, or another file of the skill. */
  readonly content: (name: string, file: string | undefined) => Promise<string>;
  /** What sub-agents there can be. */
  readonly agents: () => Promise<string>;
}
