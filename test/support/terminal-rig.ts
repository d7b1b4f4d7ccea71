import { PassThrough } from "node:stream";

import { TerminalChannel, type TerminalOptions } from "../../src/channels/terminal/terminal-channel.ts";
import { systemClock } from "../../src/lib/clock.ts";

/** A terminal of streams, with somebody or a program at the other end. */
export interface TerminalRig extends AsyncDisposable {
  readonly channel: TerminalChannel;
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** What stands on the two outputs so far. */
  seen(): string;
  hints(): string;
}

export function openTerminalRig(more: Partial<TerminalOptions> = {}): TerminalRig {
  const [input, output, error] = [new PassThrough(), new PassThrough(), new PassThrough()];
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
    seen: () => seen,
    hints: () => hints,
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}
