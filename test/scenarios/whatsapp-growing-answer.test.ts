import { expect, test, vi } from "vitest";

import { AppRig } from "../support/whatsapp/app-rig.ts";

vi.setConfig({ testTimeout: 300_000 });

test("a group that wants it sees the answer grow in the line about the turn, and gets the whole as a message of its own, once", async () => {
  const seen = Promise.withResolvers<void>();
  const text = `It begins like this. ${"And so on. ".repeat(40)}It ends like that.`;
  await using rig = await AppRig.start(() => ({ text, holds: seen.promise }), {
    config: { progress: { reactions: false, afterSeconds: 1, answers: true } },
  });
  const { ann, family } = rig;

  await ann.say(family, "@crab tell us");
  await expect
    .poll(async () => JSON.stringify(await ann.inbox()), { timeout: 60_000 })
    .toContain("It begins like this.");
  const growing = await ann.inbox();
  seen.resolve();
  await expect.poll(async () => JSON.stringify(await ann.inbox()), { timeout: 60_000 }).toMatch(/Worked for \d+ s\./);
  await expect.poll(async () => (await ann.texts(family)).filter((said) => said === text)).toHaveLength(1);

  expect(JSON.stringify(growing)).not.toContain("It ends like that.");
  expect((await ann.texts(family)).at(-1)).toBe(text);
});
