import { join } from "node:path";

import pino from "pino";
import { describe, expect } from "vitest";

import type { Channel } from "../../src/channels/channel.ts";
import type { ChannelPorts } from "../../src/channels/define-channel.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { line } from "../fixtures/adapters/line-channel.ts";
import { LinePeer } from "../support/line-peer.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { byName, type ChannelDriver, testChannel } from "./channel.ts";

async function openLine(): Promise<ChannelDriver> {
  const folder = await temporaryFolder();
  const socket = join(folder.path, "socket");
  // All that this channel asks for.
  const ports = { clock: systemClock, logger: pino({ level: "silent" }) } as unknown as ChannelPorts;
  const channel = (await line.open({ socket }, ports)) as Channel;
  let opened: LinePeer | undefined;
  const peer = async (): Promise<LinePeer | undefined> => {
    if (channel.state().state === "open") opened ??= await LinePeer.open(socket);
    return opened;
  };
  return {
    ...byName,
    channel,
    async say(spoken) {
      const from = await peer();
      if (!from) return spoken.map(() => false);
      const before = from.told.length;
      for (const { id, group, member, text } of spoken) from.say({ id, chat: group, sender: member, text });
      await expect.poll(() => from.told.length).toBe(before + spoken.length);
      return from.told.slice(before).map(({ received }) => received);
    },
    heard: async () => (await peer())?.heard("main") ?? [],
    async [Symbol.asyncDispose]() {
      await channel[Symbol.asyncDispose]();
      opened?.[Symbol.dispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe("a channel from outside", () => {
  testChannel(openLine, { numbered: true });
});
