/**
 * Files of a group's folder in which its agent keeps what it wants to know in later conversations: its own words, no
 * instructions.
 */
export const memoryFile = "MEMORY.md";
export const notesFolder = "notes";

/** An agent's notes as shown to a new conversation. Hostile: anyone who writes to the agent may have put them there. */
export interface AgentNotes {
  /** The beginning of MEMORY.md; empty when there is none. */
  readonly memory: string;
  /** Reason why the existing MEMORY.md was not read. */
  readonly refused?: string | undefined;
  /** Names in the folder of notes, in order. */
  readonly names: readonly string[];
  /** There are more than these. */
  readonly hasMore: boolean;
}
