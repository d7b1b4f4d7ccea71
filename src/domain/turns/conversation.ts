import type { Origin } from "../people/origin.ts";
import type { MountedFolder } from "../sandbox/mount.ts";
import type { SkillSummary } from "../sandbox/skill.ts";

/** Facts about itself and its group that an agent was told in this conversation. */
export interface ToldFacts {
  readonly agentName: string;
  readonly timeZone: string;
  /** SHA-256 of the group's instructions, in hex; of an empty text when there are none. */
  readonly instructions: string;
  readonly title: string;
  /** Names of the chat's members. */
  readonly members: readonly string[];
  /** Folders as they appear in the container. */
  readonly folders: readonly MountedFolder[];
  /** WorkSlots that can be reached, as `host:port`. */
  readonly network: readonly string[];
  /** Left out: none. */
  readonly skills?: readonly SkillSummary[] | undefined;
  /** Additional packages in the container, in words. */
  readonly packages?: string | undefined;
  /** The group has asked for packages that could not be installed. */
  readonly lacksPackages?: boolean | undefined;
  /** Tools of sources that it can use, by name; left out: none. */
  readonly tools?: readonly string[] | undefined;
  /** When people decided last about its changes in folders with review; left out: never. */
  readonly decidedAt?: number | undefined;
}

/**
 * The system prompt of a session's conversation, in sections, as it was first sent: it stays the same bytes for all of
 * the conversation, so that vendors know the beginning of each prompt. What changes meanwhile is told in notes.
 */
export interface ConversationPrompt {
  readonly conversation: number;
  readonly system: readonly string[];
  /** Tokens by section; absent in rows of older versions. */
  readonly sections?: Readonly<Record<string, number>> | undefined;
  readonly told: ToldFacts;
  /** Origins of all its words. */
  readonly origins: readonly Origin[];
}
