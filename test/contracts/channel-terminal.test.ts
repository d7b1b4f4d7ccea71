import { PassThrough } from "node:stream";
import { text as readText } from "node:stream/consumers";

import { describe } from "vitest";

import { TerminalChannel } from "../../src/channels/terminal/terminal-channel.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { byName, type ChannelDriver, testChannel } from "./channel.ts";

async function openTerminal(): Promise<ChannelDriver> {
  const [input, output, error] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const channel = new TerminalChannel({
    input,
    output,
    error,
    json: true,
    interactive: false,
    assistantName: "crab",
    clock: systemClock,
    chats: () => ["main", "family", "other"],
  });
  return {
    ...byName,
    channel,
    async say(spoken) {
      for (const { group, member, text } of spoken) input.write(`${group}/${member}: ${text}\n`);
      const closed = channel.state().state === "closed";
      input.end();
      await channel.inputEnded;
      error.end();
      const hints = (await readText(error)).split("\n");
      // A terminal says nothing of what it has taken, and gives a hint for every line that it has not.
      return spoken.map((_, index) => !closed && (hints[index] ?? "") === "");
    },
    async heard() {
      const lines = String(output.read() ?? "").split("\n");
      return lines.filter((line) => line !== "").map((line) => (JSON.parse(line) as { text: string }).text);
    },
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}

describe("the terminal channel", () => {
  testChannel(openTerminal, { offersAgain: true });
});
