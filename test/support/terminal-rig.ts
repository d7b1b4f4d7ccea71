import { PassThrough } from "node:stream";

import { TerminalChannel, type TerminalOptions } from "../../src/channels/terminal/terminal-channel.ts";
import { systemClock } from "../../src/lib/time/clock.ts";

/** A terminal of streams, with somebody or a program at the other end. */
export interface TerminalRig extends AsyncDisposable {
  readonly channel: TerminalChannel;
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly error: PassThrough;
  /** Both outputs so far. */
  seen(): string;
  hints(): string;
}

export function openTerminalRig(
  more: Partial<TerminalOptions> & Partial<Pick<TerminalRig, "output" | "error">> = {},
): TerminalRig {
  const input = new PassThrough();
  const { output = new PassThrough(), error = new PassThrough() } = more;
  const streams = { input, output, error };
  const plain = {
    json: false,
    interactive: false,
    assistantName: "crab",
    clock: systemClock,
    chats: () => ["main", "family"],
  };
  const channel = new TerminalChannel({ ...streams, ...plain, ...more });
  let [seen, hints] = ["", ""];
  output.on("data", (chunk) => (seen += String(chunk)));
  error.on("data", (chunk) => (hints += String(chunk)));
  return {
    channel,
    input,
    output,
    error,
    seen: () => seen,
    hints: () => hints,
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
