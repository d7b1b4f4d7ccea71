/**
 * Files of a group's folder in which its agent keeps what it wants to know in later conversations: its own words, no
 * instructions.
 */
export const memoryFile = "MEMORY.md";
export const notesFolder = "notes";

/**
 * What an agent has noted, as a new conversation is shown it. Hostile: whoever has written to the agent may have put it
 * there.
 */
export interface AgentNotes {
  /** The beginning of MEMORY.md; empty when there is none. */
  readonly memory: string;
  /** Why MEMORY.md is there and is not read. */
  readonly refused?: string | undefined;
  /** Of what is in the folder of notes, in order. */
  readonly names: readonly string[];
  /** There are more than these. */
  readonly hasMore: boolean;
}
