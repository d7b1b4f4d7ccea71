import { expect } from "vitest";

import { LinePeer } from "../support/line-peer.ts";
import { byName, type ChannelDriver } from "./channel.ts";

/** A channel `line` of the fixtures, and where its peers come in. */
interface Line {
  readonly channel: ChannelDriver["channel"];
  readonly where: string | number;
  /** Does it take peers now, or in a moment? Then it resolves when it does. */
  readonly isOpen: () => Promise<boolean>;
  /** Resources of the channel, disposed after it. */
  readonly rest: AsyncDisposable;
}

export function driveLine({ channel, where, isOpen, rest }: Line): ChannelDriver {
  let opened: LinePeer | undefined;
  const peer = async (): Promise<LinePeer | undefined> => {
    if (await isOpen()) opened ??= await LinePeer.open(where);
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
      await rest[Symbol.asyncDispose]();
    },
  };
}
