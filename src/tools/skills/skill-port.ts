/** The group's skills for tools. Rejects with ToolError only, or a bug. */
export interface SkillPort {
  /** All of them, as the model is shown them. */
  readonly available: () => string;
  /** Those for a task, by what its text names, its type, and what is for every task. */
  readonly forTask: (task: {
    readonly taskType?: string | undefined;
    readonly text?: string | undefined;
  }) => Promise<string>;
  /** Content of SKILL.md, or of another file of the skill. */
  readonly content: (name: string, file: string | undefined) => Promise<string>;
  /** Available kinds of sub-agents. */
  readonly agents: () => Promise<string>;
}
