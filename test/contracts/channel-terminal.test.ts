import { readFile } from "node:fs/promises";
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
  let all = "";
  const printed = (): { text: string; file?: { path: string } }[] => {
    all += String(output.read() ?? "");
    const lines = all.split("\n").filter((line) => line !== "");
    return lines.map((line) => JSON.parse(line) as { text: string; file?: { path: string } });
  };
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
    heard: async () => printed().map(({ text }) => text),
    heardAloud: () =>
      Promise.all(printed().map(({ file }) => (file ? readFile(file.path) : Promise.resolve(undefined)))),
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
}

describe("the terminal channel", () => {
  testChannel(openTerminal, { offersAgain: true, voice: true });
});
