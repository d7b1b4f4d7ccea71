import pino from "pino";
import { expect, test } from "vitest";

import { startChannels } from "../../../src/intake/start-channels.ts";
import { SupervisedChannel } from "../../../src/channels/supervisor.ts";
import { unconnected } from "../../../src/channels/unconnected.ts";
import { FakeChannel } from "../../fakes/fake-channel.ts";
import { FakePlatform } from "../../fakes/fake-platform.ts";
import { VirtualTime } from "../../support/virtual-time.ts";

/** A channel that cannot be opened the first time. */
class ShyChannel extends FakeChannel {
  #tries = 0;

  override async start(...given: Parameters<FakeChannel["start"]>): Promise<void> {
    this.#tries += 1;
    if (this.#tries === 1) throw new Error("the port is taken");
    await super.start(...given);
  }
}

test("a channel that cannot be opened or hangs touches no other, is tried again, and wakes the outbox when it is open", async () => {
  const time = new VirtualTime();
  const logger = pino({ level: "silent" });
  const parts = { clock: time.clock, wait: time.wait, random: () => 0.5, logger };
  const hanging = new FakePlatform();
  hanging.reactions = ["hang"];
  await using stack = new AsyncDisposableStack();
  const channels = [unconnected(new ShyChannel("shy")), hanging, unconnected(new FakeChannel("fine"))].map(
    (connector) => new SupervisedChannel(connector, parts),
  );
  const log: string[] = [];
  const states = { record: (name: string, { state }: { state: string }) => void log.push(`${name} ${state}`) };
  const outbox = { wake: () => void log.push("wake"), confirm: () => undefined };
  stack.defer(async () => {
    const ending = channels.map((channel) => channel[Symbol.asyncDispose]());
    await time.advance(5_000);
    await Promise.all(ending);
  });

  await startChannels(channels, {
    accept: async () => ({ outcome: "unknown-chat" }),
    reacted: async () => ({ outcome: "unknown-chat" }),
    outbox,
    chats: { changed: () => undefined },
    states,
    alert: () => undefined,
  });
  await time.settle();
  const first = channels.map((channel) => channel.state().state);
  await time.advance(1_000);

  expect(first).toEqual(["connecting", "connecting", "open"]);
  expect(channels[0]?.state().state).toBe("open");
  expect(log).toEqual(["fine open", "wake", "shy open", "wake"]);
});
