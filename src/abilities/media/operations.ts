import * as z from "zod";

/*
 * What the media process is asked for, by name: what it is told besides the file, and what it says of what it found.
 * Both ends check what comes in. What belongs to files themselves stays in files: `in/<id>` is read, and `out/<id>` is
 * written where there is something to write.
 */

const side = z.number().int().min(1).max(1_000_000);

export const pictureRequest = z.strictObject({
  /** Of the picture as the model is shown it. */
  maxBytes: z.number().int().min(1),
  /** More of them are not decoded. */
  maxPixels: z.number().int().min(1),
  /** Longest edge: of a photograph, and of what is mostly text. */
  photoEdge: side,
  documentEdge: side,
});

const pictureResult = z.strictObject({
  /** What the original is. */
  from: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp", "image/tiff", "image/heic", "image/avif"]),
  /** What was written. */
  to: z.enum(["image/jpeg", "image/png"]),
  width: side,
  height: side,
  /** Of the original; only the first is shown. */
  frames: z.number().int().min(1),
});

/** Longer than anybody speaks, and short enough to be a number. */
const seconds = z.number().min(0).max(1_000_000);

/** What phones draw of a voice message: the loudness of so many moments. */
export const waveformBars = 64;

const waveform = z.array(z.int().min(0).max(100)).length(waveformBars);

const transcribeRequest = z.strictObject({
  /** The folder of the model. */
  model: z.string().min(1).max(4_096),
  /** Longer ones are refused. */
  mostSeconds: seconds,
});

/** Of a recording. */
export const transcriptChars = 50_000;

export const mediaOperations = {
  /** What can be read here: pictures at all, and those in HEIC. The file is not looked at. */
  abilities: { request: z.strictObject({}), result: z.strictObject({ pictures: z.boolean(), heic: z.boolean() }) },
  /** A picture as models are shown it: upright, without metadata, no larger than is of use. */
  picture: { request: pictureRequest, result: pictureResult },
  /** How long a recording is, and how loud over its length, where that was asked for and its encoding tells. */
  sound: {
    request: z.strictObject({ waveform: z.boolean() }),
    result: z.strictObject({ seconds, waveform: waveform.optional() }),
  },
  /** What is said in a recording, by a local model. */
  transcribe: { request: transcribeRequest, result: z.strictObject({ text: z.string().max(transcriptChars) }) },
} as const;

export type MediaOperation = keyof typeof mediaOperations;
export type MediaRequest<Name extends MediaOperation> = z.output<(typeof mediaOperations)[Name]["request"]>;
export type MediaResult<Name extends MediaOperation> = z.output<(typeof mediaOperations)[Name]["result"]>;

/** What names the files of one request. */
export const mediaId = z.string().regex(/^[0-9a-f-]{36}$/);

/**
 * Why there is no result. `refused`: the file is not what it should be, too large, or damaged. `missing`: the library
 * that it takes is not installed. `failed`: the process ended, hung or broke the rules.
 */
export const mediaFailures = ["refused", "missing", "failed"] as const;

export type MediaFailure = (typeof mediaFailures)[number];

/** A file that could not be worked on; the message is the end of a sentence. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly failure: MediaFailure;
  /** A provider has made nothing, and so asks nothing for it. */
  readonly isUnpaid: boolean;

  constructor(
    failure: MediaFailure,
    message: string,
    options: { readonly cause?: unknown; readonly isUnpaid?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.isUnpaid = options.isUnpaid === true;
  }
}
