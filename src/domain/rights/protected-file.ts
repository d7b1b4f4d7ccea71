import type { Sourced } from "./sourced.ts";

/** Each group has one, if only an empty one. */
export const instructionsFile = "AGENTS.md";

/**
 * Files of a group's folder that say what its agent is and what it is there for, in the order in which the model is
 * shown them. Whoever can write them owns all later conversations: they are the operator's alone, and read-only in
 * containers.
 */
export const protectedFileNames = [instructionsFile, "SOUL.md", "USER.md", "IDENTITY.md"] as const;

export type ProtectedFileName = (typeof protectedFileNames)[number];

/** Maximum characters of AGENTS.md that the model is shown and that can be proposed. */
export const instructionChars = 32_000;

/** Setting with an agent's own instructions, used in all its groups. */
export const agentsSetting = "config.yaml: agents";

/** Text of an instruction file, not blank. */
export interface InstructionText {
  readonly file: ProtectedFileName | typeof agentsSetting;
  readonly text: Sourced;
}

/** One of them as a container gets it. */
export interface ProtectedFile {
  readonly name: ProtectedFileName;
  /** The host's own copy of it, which is mounted; absolute. */
  readonly source: string;
  readonly sha256: string;
  /**
   * Identifies the file of the group's folder that the copy is mounted over. When that is replaced on the host, the
   * kernel takes the mount away from containers that run: they must not be used again.
   */
  readonly mountPoint: string;
}

export function isProtectedFileName(name: string): name is ProtectedFileName {
  return protectedFileNames.some((known) => known === name);
}
