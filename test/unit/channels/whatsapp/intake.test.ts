import { pino } from "pino";
import { expect, test } from "vitest";

import type { Receipt } from "../../../../src/channels/channel.ts";
import { Directory } from "../../../../src/channels/whatsapp/incoming/directory.ts";
import { WhatsAppIntake } from "../../../../src/channels/whatsapp/incoming/intake.ts";
import { sleep } from "../../../../src/lib/time/sleep.ts";
import { openTestStore } from "../../../support/open-test-store.ts";
import type { Arrival } from "../../../../src/processes/message-schemas.ts";

function arrival(chat: string, id: string): Arrival {
  const address = { chat, participant: "1@lid" };
  return { chat, id, sender: "1@lid", address, text: "hello", mentions: [], toAgent: false, media: [] };
}

test("a message that is kept out for hours is given up: neither its chat nor its place in the journal waits for it", async () => {
  await using opened = await openTestStore();
  const offered: string[] = [];
  const lasting: Receipt = {
    outcome: "refused",
    code: "daily-limit",
    reason: "x",
    retryAfterS: 40_000,
    lasting: true,
    stopped: false,
  };
  const journal = { store: opened.store.channelState, space: "journal" };
  await using intake = new WhatsAppIntake({
    channel: "whatsapp",
    assistantName: () => "crab",
    accept: async ({ id }) => {
      offered.push(id);
      return id.startsWith("flood") ? lasting : { outcome: "stored", duplicate: false };
    },
    seqOf: async () => undefined,
    isProgress: () => false,
    account: () => undefined,
    directory: await Directory.load(opened.store.channelState, "directory"),
    learn: async () => undefined,
    settle: async () => undefined,
    journal,
    group: async () => undefined,
    fetchMedia: async () => undefined,
    taken: () => undefined,
    wait: sleep,
    logger: pino({ level: "silent" }),
  });
  intake.open();

  for (const id of ["flood 1", "flood 2", "flood 3", "/stop"]) await intake.keep(arrival("one@g.us", id));

  await expect.poll(async () => (await journal.store.list(journal.space)).size).toBe(0);
  expect(offered).toEqual(["flood 1", "flood 2", "flood 3", "/stop"]);
});
