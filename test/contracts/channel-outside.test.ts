import { join } from "node:path";

import pino from "pino";
import { describe } from "vitest";

import type { Channel } from "../../src/channels/channel.ts";
import type { ChannelPorts } from "../../src/channels/define-channel.ts";
import { systemClock } from "../../src/lib/time/clock.ts";
import { line } from "../fixtures/adapters/line-channel.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type ChannelDriver, testChannel } from "./channel.ts";
import { driveLine } from "./line-driver.ts";

async function openLine(): Promise<ChannelDriver> {
  const folder = await temporaryFolder();
  const socket = join(folder.path, "socket");
  // All that this channel asks for.
  const ports = { clock: systemClock, logger: pino({ level: "silent" }) } as unknown as ChannelPorts;
  const channel = (await line.open({ socket }, ports)) as Channel;
  const isOpen = async (): Promise<boolean> => channel.state().state === "open";
  return driveLine({ channel, where: socket, isOpen, rest: folder });
}

describe("a channel from outside", () => {
  testChannel(openLine, { numbered: true });
});
