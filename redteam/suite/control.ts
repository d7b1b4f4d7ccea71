import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { IncomingMessage } from "node:http";

import { AppError, isErrorCode } from "../../src/lib/app-error.ts";
import { withShortPath } from "../../src/lib/files/socket-path.ts";

/** Something that the operator's commands ask of a host. */
export interface ControlRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below `/v1/control`. */
  readonly path: string;
  readonly body?: object;
}

/**
 * Asks the host of a home on its control socket, as the operator's commands do: a process for each question would take the machine
 * from what is attacked. Throws AppError with what the host says when it refuses.
 */
export async function askControl(home: string, { method, path, body }: ControlRequest): Promise<unknown> {
  return withShortPath(join(home, "control.sock"), async (socketPath) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const sent = request({ socketPath, method, path: `/v1/control${path}`, headers, agent: false }, resolve);
    sent.once("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const answer = await promise;
    const said = await text(answer);
    if (answer.statusCode === 200) return JSON.parse(said) as unknown;
    const { error } = JSON.parse(said) as { readonly error: { readonly code: string; readonly message: string } };
    throw new AppError(isErrorCode(error.code) ? error.code : "bad_input", `${method} ${path}: ${error.message}`);
  });
}
