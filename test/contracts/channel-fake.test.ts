import { describe } from "vitest";

import { FakeChannel } from "../fakes/fake-channel.ts";
import { byName, testChannel } from "./channel.ts";

describe("the fake channel of the scenarios", () => {
  testChannel(
    async () => {
      const channel = new FakeChannel();
      return {
        ...byName,
        channel,
        async say(spoken) {
          const told: boolean[] = [];
          for (const { group, text, id, member, thread } of spoken) {
            const receipt = await channel.say(group, text, { id, sender: member, thread });
            told.push(receipt.outcome === "stored");
          }
          return told;
        },
        async react({ group, member, ...more }) {
          return (await channel.putEmoji(group, { ...more, sender: member })).outcome === "stored";
        },
        heard: async () => channel.heard("main"),
        heardQuoting: async () => channel.heardAs("main").map(({ quote }) => quote?.id),
        heardIn: async () => channel.heardAs("main").map(({ thread }) => thread),
        [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
      };
    },
    { numbered: true, threads: true, quotes: true, hearsReactions: true },
  );
});
