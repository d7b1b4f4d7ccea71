/** Values for the section's text, and required ones. */
interface SectionValues {
  readonly may: readonly string[];
  readonly must: readonly string[];
}

/**
 * The sections of the system prompt, in their order, each a Mustache template in a file of its name. Those from
 * `members` on may differ between conversations of one group.
 */
export const promptSections = {
  identity: { may: ["group"], must: ["agent"] },
  "sub-agent": { may: ["group"], must: ["agent", "folder"] },
  runtime: { may: ["canFetch", "canSearch", "network", "packages"], must: ["folders"] },
  chat: { may: ["agent", "canSend", "folder", "silence", "subAgent"], must: [] },
  purpose: { may: [], must: ["instructions"] },
  instructions: { may: ["files"], must: ["instructions"] },
  skills: { may: [], must: ["skills"] },
  members: { may: [], must: ["names"] },
  notes: { may: [], must: ["notes"] },
  zone: { may: ["date"], must: ["zone"] },
} as const satisfies Record<string, SectionValues>;

export type PromptSectionName = keyof typeof promptSections;

export const promptSectionNames = Object.keys(promptSections) as PromptSectionName[];

/** The text of each section's file. An empty one leaves the section out. */
export type PromptTexts = Readonly<Record<PromptSectionName, string>>;

/** Maximum characters of a section's file. */
export const sectionChars = 8_000;
