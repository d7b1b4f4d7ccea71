import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { IncomingMessage } from "node:http";

import { AppError, isErrorCode } from "../../src/lib/app-error.ts";
import { withShortPath } from "../../src/lib/files/socket-path.ts";

/**
 * Has the host of a home carry out an operation over its control socket, as the operator's commands do: a process for
 * each question would take the machine from what is attacked. Throws AppError with the host's words when it refuses.
 */
export async function askControl(home: string, operation: string, input: object): Promise<unknown> {
  return withShortPath(join(home, "control.sock"), async (socketPath) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers = { "content-type": "application/json" };
    const options = { socketPath, method: "POST", path: `/v1/control/${operation}`, headers, agent: false };
    const sent = request(options, resolve);
    sent.once("error", reject);
    sent.end(JSON.stringify(input));
    const answer = await promise;
    const said = await text(answer);
    if (answer.statusCode === 200) return JSON.parse(said) as unknown;
    const { error } = JSON.parse(said) as { readonly error: { readonly code: string; readonly message: string } };
    throw new AppError(isErrorCode(error.code) ? error.code : "bad_input", `${operation}: ${error.message}`);
  });
}
