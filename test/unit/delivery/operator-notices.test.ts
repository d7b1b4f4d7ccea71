import pino from "pino";
import { expect, test } from "vitest";

import { createAlert, createTellOperator } from "../../../src/delivery/operator-notices.ts";
import type { Group } from "../../../src/domain/chats/group.ts";
import { systemClock } from "../../../src/lib/time/clock.ts";
import { FakeChannel } from "../../fakes/fake-channel.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup } from "../../support/some-group.ts";

const main = (channel: string): Group => someGroup(`main-${channel}`, { channel, chat: channel, main: true });

async function tellAbout(channel: string, groups: readonly Group[], open: readonly string[]): Promise<string[]> {
  await using home = await openTestStore();
  const { store } = home;
  const told = Promise.withResolvers<void>();
  const channels = await Promise.all(
    open.map(async (name) => {
      const opened = new FakeChannel(name);
      await opened.start(async () => ({ outcome: "unknown-chat" }));
      return opened;
    }),
  );
  const parts = { groups: { list: () => groups }, channels, outbox: { wake: () => told.resolve() } };
  const alert = createAlert(
    createTellOperator({ ...parts, outboxStore: store.outbox, clock: systemClock, logger: pino({ level: "silent" }) }),
  );

  alert(channel, "it was unlinked");
  await told.promise;

  return (await store.outbox.unsent(10)).map(({ group, kind, text }) => `${group} ${kind} ${text}`);
}

test("a channel that needs somebody is told about in a main group of another channel, best in one that works", async () => {
  const groups = [main("whatsapp"), main("terminal"), main("http")];

  expect(await tellAbout("whatsapp", groups, ["whatsapp", "http"])).toEqual([
    "main-http notice The channel whatsapp needs you: it was unlinked.",
  ]);
  expect(await tellAbout("whatsapp", groups, [])).toEqual([
    "main-terminal notice The channel whatsapp needs you: it was unlinked.",
  ]);
});

test("what the members of a group must not see is said in another main group, or nowhere", async () => {
  await using home = await openTestStore();
  const { store } = home;
  const groups = [main("http"), main("terminal")];
  const woken: string[] = [];
  const outbox = { wake: () => void woken.push("woken") };
  const logger = pino({ level: "silent" });
  const parts = { outboxStore: store.outbox, outbox, channels: [], clock: systemClock, logger };
  const tell = createTellOperator({ ...parts, groups: { list: () => groups } });
  const alone = createTellOperator({ ...parts, groups: { list: () => groups.slice(0, 1) } });

  alone({ text: "for nobody", hiddenFrom: "main-http" });
  tell({ text: "a secret was said", hiddenFrom: "main-http" });
  await expect.poll(() => woken.length).toBe(1);

  expect((await store.outbox.unsent(10)).map(({ group, text }) => `${group} ${text}`)).toEqual([
    "main-terminal a secret was said",
  ]);
});
