import type * as z from "zod";

import type { Operation, StreamOperation } from "../../operations/definition/define-operation.ts";
import { askSocket, readText, refusalIn } from "../../lib/process/control-socket.ts";
import { readLines } from "../../lib/process/read-lines.ts";
import type { SocketAnswer } from "../../lib/process/socket-post.ts";

/** Longest silence of the host before a command gives up, in milliseconds. */
const silenceMs = 30_000;

/**
 * Asks the running host through its control socket. Errors are those of the host; `no_host` when none is running.
 * Answers are believed: whatever answers on that socket owns the home.
 */
export class HostClient {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** Has the host carry out an operation, and resolves with its answer. */
  async call<Input extends z.ZodType, Output extends z.ZodType>(
    operation: Operation<never, Input, Output>,
    input: z.input<Input>,
  ): Promise<z.output<Output>> {
    const answer = await this.#send(operation, input);
    try {
      return JSON.parse(await readText(answer)) as z.output<Output>;
    } finally {
      answer.destroy();
    }
  }

  /** The pieces of an answer as they come; leaving early ends the operation. */
  async *follow<Input extends z.ZodType, Output extends z.ZodType>(
    operation: StreamOperation<never, Input, Output>,
    input: z.input<Input>,
  ): AsyncGenerator<z.output<Output>> {
    const answer = await this.#send(operation, input);
    try {
      for await (const line of linesOf(answer)) {
        const value: unknown = JSON.parse(line);
        const refusal = refusalIn(value);
        if (refusal) throw refusal;
        yield value as z.output<Output>;
      }
    } finally {
      answer.destroy();
    }
  }

  #send(
    { name, isLong }: { readonly name: string; readonly isLong?: true | undefined },
    input: unknown,
  ): Promise<SocketAnswer> {
    const longestMs = isLong ? 0 : silenceMs;
    return askSocket({
      socketPath: this.#socketPath,
      path: `/${name}`,
      body: JSON.stringify(input),
      silenceMs: longestMs,
    });
  }
}

async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const lines of readLines(pieces)) yield* lines;
}
