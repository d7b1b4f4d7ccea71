import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { checkConfig, describeFault } from "../../../src/config/loading/load.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function check(whatsapp: object, groups: object = {}): Promise<unknown> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, JSON.stringify({ channels: { whatsapp }, groups }), { mode: 0o600 });
  const checked = await checkConfig(file, {}, builtInAdapters);
  return checked.ok ? checked.loaded.config.channels["whatsapp"] : checked.faults.map(describeFault);
}

test("WhatsApp needs no settings", async () => {
  expect(await check({})).toEqual({ readReceipts: true, pacing: { perChatPerSecond: 1, perMinute: 20 } });
});

test.each(["ws://127.0.0.1:5/ws", "ws://localhost:5", "ws://[::1]:5/", "ws://127.8.9.1/", "wss://wa.example/ws/chat"])(
  "the server may be %s",
  async (webSocketUrl) => {
    expect(await check({ webSocketUrl })).toMatchObject({ webSocketUrl });
  },
);

test.each([
  "ws://wa.example/",
  "ws://10.0.0.1/",
  "ws://127.0.0.1.example/",
  "ws://localhost.example/",
  "http://localhost/",
])("the server may not be %s", async (webSocketUrl) => {
  expect(await check({ webSocketUrl })).toEqual([expect.stringContaining("channels.whatsapp.webSocketUrl")]);
});

test.each([
  ["phoneNumber", "+49 151"],
  ["rootPublicKey", "abc"],
  ["version", "2.3000"],
  ["pacing", { perMinute: 0 }],
])("%s cannot be %j", async (key, value) => {
  expect(await check({ [key]: value })).toEqual([expect.stringContaining(`channels.whatsapp.${key}`)]);
});

test.each(["120363", "4915112345678", "+49151@s.whatsapp.net", "12036@g.us ", "family"])(
  "no chat can have the id %j",
  async (chat) => {
    expect(await check({}, { family: { channel: "whatsapp", chat } })).toEqual([
      expect.stringContaining(`groups.family.chat: "${chat}" is not the id of a chat, which \`crabpot chats\` shows`),
    ]);
  },
);

test.each([
  "120363012345678901@g.us",
  "4915112345678-1400000000@g.us",
  "90000000000011@lid",
  "4915112345678@s.whatsapp.net",
])("a chat can have the id %s", async (chat) => {
  expect(await check({}, { family: { channel: "whatsapp", chat } })).toMatchObject({ readReceipts: true });
});
