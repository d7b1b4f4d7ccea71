import type { MemberId } from "./people/person.ts";

/** Placeholder for erased words. */
export const erasedText = "[erased]";

/** Kinds of erased data, in the order of reports. */
export const erasedKinds = [
  "messages",
  "memories",
  "files",
  "steps",
  "replies",
  "quotes",
  "work",
  "tasks",
  "approvals",
  "jobs",
  "agents",
  "prompts",
  "summaries",
  "names",
  "events",
  "logs",
] as const;

export type ErasedKind = (typeof erasedKinds)[number];

/** Number of erased items by kind; kinds without any are left out. */
export type ErasedCounts = Readonly<Partial<Record<ErasedKind, number>>>;

export function addCounts(...all: readonly ErasedCounts[]): ErasedCounts {
  const sums = erasedKinds.map((kind) => [kind, all.reduce((sum, counts) => sum + (counts[kind] ?? 0), 0)] as const);
  return Object.fromEntries(sums.filter(([, count]) => count > 0));
}

/** The person whose words are erased, and the marks that tell their words from others'. */
export interface Erasing {
  readonly people: readonly MemberId[];
  /** Names that the person uses, as far as known. */
  readonly names: readonly string[];
  /** Are there words of theirs in it? Texts of others are not asked about. */
  readonly holds: (text: string) => boolean;
}

/** A person's words that are going to be erased, or were. */
export interface ErasureView {
  /** All ids of the person, as `channel:id`. */
  readonly ids: readonly string[];
  readonly groups: readonly string[];
  readonly erased: ErasedCounts;
  /** In groups' folders, which belong to their agents: files that hold words or the name of the person. */
  readonly files: readonly string[];
  /** Other files of the home that still hold words of theirs. */
  readonly left: readonly string[];
}
