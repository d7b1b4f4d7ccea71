import { type FailureCodec, plainFailures } from "../../../processes/failures.ts";
import { MediaError } from "../media-error.ts";

const reasonChars = 500;

/** Errors of the process that reads strangers' files. Those of a decoder say that the file is at fault. */
export const mediaFailures: FailureCodec = {
  encode: (thrown) => {
    const { message } = plainFailures.encode(thrown);
    const failure = thrown instanceof MediaError ? thrown.failure : "refused";
    return { kind: "media", failure, message: shortReason(message) };
  },
  decode: (failure) =>
    failure.kind === "media" ? new MediaError(failure.failure, failure.message) : plainFailures.decode(failure),
};

function shortReason(reason: string): string {
  const line = reason.replaceAll(/\s+/g, " ").trim().toWellFormed();
  return line.length > reasonChars ? `${line.slice(0, reasonChars - 1)}…` : line;
}
