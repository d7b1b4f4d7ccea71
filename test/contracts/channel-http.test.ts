import { describe } from "vitest";

import { openHttpRig } from "../support/http-rig.ts";
import { byName, testChannel } from "./channel.ts";

describe("the http channel", () => {
  testChannel(
    async () => {
      const rig = await openHttpRig();
      return {
        ...byName,
        channel: rig.channel,
        async say(spoken) {
          const told: boolean[] = [];
          for (const { id, group, member, text, thread } of spoken) {
            const { status } = await rig.post({ id, group, sender: { id: member, name: member }, text, thread });
            told.push(status === 202);
          }
          return told;
        },
        async react({ group, member, ...more }) {
          const { status } = await rig.post({ ...more, group, sender: { id: member, name: member } }, "reactions");
          return status === 202;
        },
        offer: (message) => rig.offer(message),
        heard: async () => (await rig.replies()).replies.map(({ text }) => text),
        heardAloud: async () => {
          const { replies } = await rig.replies();
          return Promise.all(replies.map(({ file }) => (file ? rig.download(file.href) : Promise.resolve(undefined))));
        },
        heardIn: async () => (await rig.replies()).replies.map(({ thread }) => thread ?? undefined),
        [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
      };
    },
    { numbered: true, threads: true, voice: true, hearsReactions: true },
  );
});
