import type * as z from "zod";

import type { mediaReader } from "../../processes/protocol.ts";

type Calls = typeof mediaReader.process.calls;

export type MediaOperation = keyof Calls;
export type MediaRequest<Name extends MediaOperation> = Omit<z.output<Calls[Name]["input"]>, "file">;
export type MediaResult<Name extends MediaOperation> = z.output<Calls[Name]["output"]>;

/**
 * Reason for a missing result. `refused`: wrong, too large or damaged file. `missing`: library not installed. `failed`:
 * the process ended, hung or broke the rules.
 */
export type MediaFailure = "refused" | "missing" | "failed";

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
