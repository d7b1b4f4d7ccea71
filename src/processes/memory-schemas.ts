import * as z from "zod";

import { origins } from "../domain/people/origin.ts";
import { list } from "./message-schemas.ts";

/*
 * The things that messages between the host and the memory thread carry, which are also the nouns of memories: there is
 * no second definition of them.
 */

/** A number, or infinity: always, never, all. */
export const anyNumber = z.custom<number>((value) => typeof value === "number" && !Number.isNaN(value));

const origin = z.enum(origins);
const ids = list(z.string());

/** A memory to be made; one that is known by its id is replaced. */
export const newMemory = z.object({
  id: z.string(),
  /** Messages, notes of a day, lasting facts, or a chosen name such as `recipes`. */
  category: z.string(),
  text: z.string(),
  /** When it was said, milliseconds since 1970. */
  time: anyNumber,
  /** Display name of the speaker. */
  sender: z.string(),
  /** Origin of its words. */
  origin,
  /** Ids of the messages that it was taken from. */
  sources: ids,
  /** People whose words it holds, as `channel:id`; none from the CLI and imports. */
  people: ids.optional(),
  /** Further origins, such as those of the turn that said it. */
  origins: list(origin).optional(),
  /** Content of an attached picture. */
  photo: z.string().optional(),
});

/** One thing that a group remembers. */
export const memory = newMemory.extend({
  /** The memory that replaced this one, which is kept but no longer found. */
  supersededBy: z.string().optional(),
});

/** Something that was said, by its number in the file. */
export const saidMemory = memory.extend({ seq: anyNumber });

/** Progress of readers: members' messages, the agent's, fact extraction, and two times. */
export const memoryProgress = z.object({
  messages: anyNumber,
  replies: anyNumber,
  extracted: anyNumber,
  /** Days before this time have their notes. */
  noted: anyNumber,
  /** When old memories were last removed; 0: never yet. */
  cleaned: anyNumber,
});

/** Progress, and the number of messages not yet examined for facts. */
export const memoryStanding = memoryProgress.extend({ unextracted: anyNumber });

/** Progress of a reader by new memories, and the memories that they replace. */
export const memoryAdvance = z.object({
  progress: memoryProgress.partial(),
  supersedes: list(z.object({ id: z.string(), by: z.string() })).optional(),
});

/** Which memories are wanted in a list. */
export const memoryListing = z.object({
  category: z.string().optional(),
  except: z.string().optional(),
  /** Leaves out superseded memories. */
  isCurrent: z.boolean().optional(),
  limit: anyNumber,
});

/** Which memories count in a search, and how many are wanted. */
export const memorySearch = z.object({
  /** Earliest time, in milliseconds since 1970. */
  since: anyNumber.optional(),
  /** Time before which it was said. */
  until: anyNumber.optional(),
  /** Name of the speaker, in any case. */
  who: z.string().optional(),
  limit: anyNumber,
  /** Maximum tokens of the found texts together. */
  tokens: anyNumber.optional(),
});

/** A memory that a search has found. */
export const foundMemory = z.object({ memory, score: anyNumber });

export const memoryRecall = memorySearch.extend({ tokens: anyNumber });

/** A memory as it is shown to a model: a turn waits for each part that crosses. */
export const recalledMemory = memory.omit({ sources: true, supersededBy: true });

/** Memories to leave out of a recall, as the model sees them anyway. */
export const memoriesShown = z.object({
  /** Time from which all messages are visible, in milliseconds since 1970. */
  since: anyNumber,
  /** And these. */
  ids,
});

/** Announced query of a turn. */
export const recallAhead = z.object({ how: memoryRecall, since: anyNumber });

/** Time before which a memory is old, by category, in milliseconds since 1970. */
export const memoryCutoffs = z.record(z.string(), anyNumber);

/** A cleaning that is to be done, or goes on after a crash. */
export const cleaningPlan = z.object({
  /** When it began, which is its name. */
  run: anyNumber,
  /** It was told already what goes. */
  isAnnounced: z.boolean(),
  /** Number of removed memories, by category. */
  categories: memoryCutoffs,
  /** Number of removed memories that were superseded long ago. */
  superseded: anyNumber,
});

/** A part of the index of words that was checked; `next`: where the next one begins. */
export const indexCheck = z.object({ next: anyNumber.optional(), isRewritten: z.boolean() });

/** Vectors are compared more slowly than they could be. */
export const slowVectorsReport = z.object({ strategy: z.string(), reason: z.string() });

export type NewMemory = z.output<typeof newMemory>;
export type Memory = z.output<typeof memory>;
export type SaidItem = z.output<typeof saidMemory>;
export type ReaderProgress = z.output<typeof memoryProgress>;
export type ReaderStanding = z.output<typeof memoryStanding>;
export type Advance = z.output<typeof memoryAdvance>;
export type ListQuery = z.output<typeof memoryListing>;
export type SearchOptions = z.output<typeof memorySearch>;
export type RecallLimits = z.output<typeof memoryRecall>;
export type Found = z.output<typeof foundMemory>;
export type RecalledMemory = z.output<typeof recalledMemory>;
export type AlreadyShown = z.output<typeof memoriesShown>;
export type Ahead = z.output<typeof recallAhead>;
export type Cutoffs = z.output<typeof memoryCutoffs>;
export type CleaningPlan = z.output<typeof cleaningPlan>;
export type SlowVectors = z.output<typeof slowVectorsReport>;
