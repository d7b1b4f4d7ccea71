import { join } from "node:path";

import pino from "pino";
import { describe, expect } from "vitest";

import type { Connector } from "../../src/channels/channel.ts";
import type { ChannelPorts } from "../../src/channels/define-channel.ts";
import { SupervisedChannel } from "../../src/channels/supervisor.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { sleep } from "../../src/lib/time/sleep.ts";
import { freePort } from "../support/free-port.ts";
import { LinePeer } from "../support/line-peer.ts";
import { examplePlugins, openPluginRig } from "../support/plugins.ts";
import { byName, type ChannelDriver, testChannel } from "./channel.ts";

async function openLine(): Promise<ChannelDriver> {
  const rig = await openPluginRig({ sources: [join(examplePlugins, "line")] });
  const port = await freePort();
  // All that the host needs of them for this channel.
  const ports = { assistantName: "crab", instance: "0".repeat(16), chats: () => [] } as unknown as ChannelPorts;
  const connector = (await rig.plugins.channels[0]?.open({ port }, ports)) as Connector;
  const channel = new SupervisedChannel(connector, {
    clock: systemClock,
    wait: sleep,
    random: Math.random,
    logger: pino({ level: "silent" }),
  });
  let opened: LinePeer | undefined;
  const peer = async (): Promise<LinePeer | undefined> => {
    if (channel.state().state === "connecting") await expect.poll(() => channel.state().state).toBe("open");
    if (channel.state().state === "open") opened ??= await LinePeer.open(port);
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
      await rig[Symbol.asyncDispose]();
    },
  };
}

describe("a channel of a plugin", () => {
  testChannel(openLine, { numbered: true });
});
