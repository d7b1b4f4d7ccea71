import { AppError, errorCode, isErrorCode, toError } from "../app-error.ts";
import type { ErrorCode } from "../app-error.ts";
import { withShortPath } from "../files/socket-path.ts";
import { controlAuthorization } from "./control-key.ts";
import { postToSocket, type SocketAnswer } from "./socket-post.ts";

/**
 * Asks a host over its control socket. Throws what it refuses with, or `no_host` and `unauthorized`. `silenceMs`: 0:
 * however long it takes.
 */
export async function askSocket({ socketPath: whole, path, body, silenceMs }: Exchange): Promise<SocketAnswer> {
  const tooSilent = new AppError("no_host", `The host has not answered for ${silenceMs} ms.`);
  const ask = async (): Promise<SocketAnswer> => {
    const authorization = await controlAuthorization(whole);
    return withShortPath(whole, (socketPath) =>
      postToSocket({ socketPath, path: `/v1/control${path}`, body, authorization, silenceMs, tooSilent }),
    );
  };
  const answer = await ask().catch((error: unknown) => {
    throw toConnectionError(toError(error));
  });
  if (answer.statusCode === 200) return answer;
  throw toAppError(answer.statusCode, await readText(answer));
}

/** True when no host is running, so that only stored data is available. */
export function isWithoutHost(error: unknown): boolean {
  return error instanceof AppError && error.code === "no_host" && absences.has(errorCode(error.cause));
}

interface Exchange {
  readonly socketPath: string;
  readonly path: string;
  /** JSON */
  readonly body: string;
  readonly silenceMs: number;
}

const absences: ReadonlySet<string> = new Set(["ENOENT", "ECONNREFUSED", "ENOTDIR"]);

function toConnectionError(error: Error): Error {
  if (error instanceof AppError) return error;
  const code = errorCode(error);
  if (code === "EACCES") {
    return new AppError("unauthorized", "The control socket belongs to another user.", {
      cause: error,
      fix: "Run the command as the user that runs the host.",
    });
  }
  const running = !absences.has(code);
  return new AppError(
    "no_host",
    running ? `The host closed the connection: ${error.message}.` : "No host is running.",
    {
      cause: error,
      fix: "Start one with `npm start`, or set CRABPOT_HOME to the home of a running one.",
    },
  );
}

export async function readText(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function toAppError(status: number, text: string): AppError {
  return refusalIn(JSON.parse(text)) ?? new AppError("store_failed", `The host answered with status ${status}.`);
}

/** The error that the host refuses with; undefined for an answer. */
export function refusalIn(value: unknown): AppError | undefined {
  const { error } = value as { readonly error?: { code: string; message: string; fix?: string } };
  if (typeof error !== "object") return undefined;
  const code: ErrorCode = isErrorCode(error.code) ? error.code : "store_failed";
  return new AppError(code, error.message, error.fix === undefined ? {} : { fix: error.fix });
}
