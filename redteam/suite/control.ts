import { join } from "node:path";

import { askSocket, readText } from "../../src/lib/process/control-socket.ts";

/**
 * Has the host of a home carry out an operation over its control socket, as the operator's commands do: a process for
 * each question would take the machine from what is attacked. Throws AppError with the host's words when it refuses.
 */
export async function askControl(home: string, operation: string, input: object): Promise<unknown> {
  const question = { path: `/${operation}`, body: JSON.stringify(input), silenceMs: 0 };
  return JSON.parse(
    await readText(await askSocket({ socketPath: join(home, "control.sock"), ...question })),
  ) as unknown;
}
