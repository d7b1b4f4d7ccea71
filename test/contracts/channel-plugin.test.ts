import { join } from "node:path";

import pino from "pino";
import { describe, expect } from "vitest";

import type { Connector } from "../../src/channels/channel.ts";
import type { ChannelPorts } from "../../src/channels/define-channel.ts";
import { SupervisedChannel } from "../../src/channels/supervisor.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { sleep } from "../../src/lib/time/sleep.ts";
import { freePort } from "../support/free-port.ts";
import { examplePlugins, openPluginRig } from "../support/plugins.ts";
import { type ChannelDriver, testChannel } from "./channel.ts";
import { driveLine } from "./line-driver.ts";

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
  const isOpen = async (): Promise<boolean> => {
    if (channel.state().state === "connecting") await expect.poll(() => channel.state().state).toBe("open");
    return channel.state().state === "open";
  };
  return driveLine({ channel, where: port, isOpen, rest: rig });
}

describe("a channel of a plugin", () => {
  testChannel(openLine, { numbered: true });
});
