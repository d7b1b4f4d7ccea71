export interface TextPart {
  readonly kind: "text";
  readonly text: string;
}

/** Something that is no text. Its bytes are kept once, under their SHA-256; a part only refers to them. */
export interface BlobPart {
  readonly kind: "image" | "audio" | "file";
  /** SHA-256 of the bytes, 64 lower-case hex digits. */
  readonly blob: string;
  /** Type by the first bytes. */
  readonly mimeType: string;
  readonly bytes: number;
  readonly name?: string | undefined;
  /** Number of frames or pictures in the original file. */
  readonly frames?: number | undefined;
}

/** A piece of what the model is shown. */
export type Part = TextPart | BlobPart;

/** Text alone is kept as text; what has more than text, as its parts in order. */
export type UserContent =
  | { readonly text: string; readonly parts?: undefined }
  | { readonly parts: readonly Part[]; readonly text?: undefined };

/** Parts of one step that are not text. */
export const blobsPerStep = 16;

/**
 * Bytes of an image that a model can be shown as it is. Anthropic refuses one of more than 5 MiB, counted in Base64,
 * which is a third longer than the image; others bear more.
 */
export const imageBytes = 3_900_000;

/** The kinds of images that all vendors take. */
export const imageTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** The kinds of pictures of which such an image is made. */
export const originalTypes: ReadonlySet<string> = new Set([...imageTypes, "image/tiff", "image/heic", "image/avif"]);

/** Bytes of a picture of which such an image is made. */
export const originalBytes = 64_000_000;

/** Returns the parts of a message or a result, however it is stored. */
export function partsOf(content: {
  readonly text?: string | undefined;
  readonly output?: string | undefined;
  readonly parts?: readonly Part[] | undefined;
}): readonly Part[] {
  return content.parts ?? [{ kind: "text", text: content.text ?? content.output ?? "" }];
}

export function isBlob(part: Part): part is BlobPart {
  return part.kind !== "text";
}

/** A part in words, for whoever cannot be shown it. */
export function describePart(part: Part): string {
  if (part.kind === "text") return part.text;
  const name = part.name === undefined ? "" : `${part.name}, `;
  return `[${part.kind}: ${name}${part.mimeType}, ${part.bytes} bytes, ${part.blob.slice(0, 12)}${describeFrames(part)}]`;
}

/** Empty of a picture that is alone in its file. */
export function describeFrames({ frames }: BlobPart): string {
  return frames === undefined ? "" : `, one of ${frames} frames or pictures of the file`;
}

/** All of it as one text. */
export function describeParts(parts: readonly Part[]): string {
  return parts.map(describePart).join("\n");
}

/** Text alone becomes a text, so that it is kept as it always was. Pieces of text next to each other become one. */
export function toUserContent(parts: readonly Part[]): UserContent {
  const merged: Part[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (part.kind === "text" && last?.kind === "text")
      merged[merged.length - 1] = { kind: "text", text: last.text + part.text };
    else merged.push(part);
  }
  if (merged.some(isBlob)) return { parts: merged };
  return { text: describeParts(merged) };
}
