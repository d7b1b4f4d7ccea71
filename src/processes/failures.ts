import { AppError, isErrorCode, toError } from "../lib/app-error.ts";
import { shorten } from "../lib/text/visible.ts";
import type { Failure } from "./protocol.ts";

const longest = 2_000;

/** Carries errors over a line. */
export interface FailureCodec {
  encode(thrown: unknown): Failure;
  decode(failure: Failure): Error;
}

/** The message of an error, as much of it as crosses. */
export function failureMessage(thrown: unknown): string {
  return shorten(toError(thrown).message, longest);
}

/** Only the message crosses. */
export const plainFailures: FailureCodec = {
  encode: (thrown) => ({ kind: "other", message: failureMessage(thrown) }),
  decode: ({ message }) => new Error(message),
};

/** AppErrors stay AppErrors. */
export const appFailures: FailureCodec = {
  encode: (thrown) => {
    if (!(thrown instanceof AppError)) return plainFailures.encode(thrown);
    const { code, fix, passing } = thrown;
    return { kind: "app", message: failureMessage(thrown), code, fix, passing };
  },
  decode: (failure) => {
    if (failure.kind !== "app" || !isErrorCode(failure.code)) return plainFailures.decode(failure);
    const { code, message, fix, passing } = failure;
    return new AppError(code, message, { ...(fix !== undefined && { fix }), passing });
  },
};
