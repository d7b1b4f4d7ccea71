import type { BlobPart, Part } from "../chats/part.ts";
import { type Origin, sortOrigins } from "../people/origin.ts";

declare const hasOrigins: unique symbol;

/** Origins of words, as far as they are known. */
export interface TextSources {
  readonly origins: readonly Origin[];
  /** Groups from whose folders they may come: with what these carry. */
  readonly folders: readonly string[];
}

/** Text for a model with its sources; a plain string is none. Made by the functions of this file only. */
export interface Sourced extends TextSources {
  readonly text: string;
  readonly [hasOrigins]: true;
}

/** A picture or the like with its sources. */
export interface SourcedBlob extends TextSources {
  readonly blob: BlobPart;
  readonly [hasOrigins]: true;
}

/** A piece of what a model is shown. */
export type SourcedPiece = Sourced | SourcedBlob;

/**
 * Text with its sources. None: it is the host's own, or only repeats what the turn itself has said, or what its
 * conversation was shown before.
 */
export function sourced(text: string, origins: readonly Origin[], folders: readonly string[] = []): Sourced {
  return { text, origins: sortOrigins(origins), folders } as Sourced;
}

/** A piece with these sources. */
export function sourcedPiece(part: Part, { origins, folders }: TextSources): SourcedPiece {
  return part.kind === "text"
    ? sourced(part.text, origins, folders)
    : ({ blob: part, origins: sortOrigins(origins), folders } as SourcedBlob);
}

/** The operator's words: settings, names of groups and agents, texts of sections. They have no origin. */
export function ofOperator(text: string): Sourced {
  return sourced(text, []);
}

/** Words of the host as they stand in its code, around numbers and texts that say where they come from. */
export function ofHost(words: TemplateStringsArray, ...values: readonly (Sourced | number)[]): Sourced {
  const texts = values.map((value) => (typeof value === "number" ? sourced(String(value), []) : value));
  return joined(
    words.flatMap((word, index) => [sourced(word, []), ...texts.slice(index, index + 1)]),
    "",
  );
}

/** All of them as one text, with the sources of all. */
export function joined(texts: readonly Sourced[], separator: string): Sourced {
  return from(texts, texts.map(({ text }) => text).join(separator));
}

/** A text that is made of these, with the sources of all. */
export function from(made: readonly TextSources[], text: string): Sourced {
  const { origins, folders } = sourcesOf(made);
  return sourced(text, origins, folders);
}

/** The sources of all of these. */
export function sourcesOf(all: readonly TextSources[]): TextSources {
  return {
    origins: sortOrigins(all.flatMap(({ origins }) => origins)),
    folders: [...new Set(all.flatMap(({ folders }) => folders))],
  };
}

/** The piece as it is stored and shown. */
export function unsourced(said: SourcedPiece): Part {
  return "blob" in said ? said.blob : { kind: "text", text: said.text };
}
