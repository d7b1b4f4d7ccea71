import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { type ChannelDriver, collect, type ContractTraits, reply } from "./channel-setup.ts";

const path = join(import.meta.dirname, "../../assets/hello.opus");

/** Contract of channels that send voice messages. */
export function testVoice(open: () => Promise<ChannelDriver>, traits: ContractTraits): void {
  test.runIf(traits.voice)(
    "what is said aloud can be heard as it is, once, in its place, also when it is sent again",
    async () => {
      await using driver = await open();
      await collect(driver);
      const chat = driver.chat("main");
      const sound = await readFile(path);
      const file = { path, name: "voice.ogg", mimeType: "audio/ogg", bytes: sound.length, voice: { seconds: 3.6 } };
      const spoken = reply(1, "Hello.", { chat, file });

      for (const message of [spoken, spoken, reply(2, "written", { chat })]) {
        driver.offer?.(message);
        await driver.channel.send(message, AbortSignal.timeout(120_000));
      }

      await expect.poll(async () => (await driver.heardAloud?.())?.length).toBe(2);
      expect((await driver.heardAloud?.())?.map((heard) => heard?.equals(sound))).toEqual([true, undefined]);
    },
  );
}
