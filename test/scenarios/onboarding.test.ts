import { expect, test } from "vitest";

import type { IncomingAttachment } from "../../src/domain/chats/message.ts";
import { openEmbeddedHost } from "../support/embedded-host.ts";

let fetched = 0;
const picture: IncomingAttachment = { kind: "image", mimeType: "image/png", fetch: async () => void (fetched += 1) };

test("an unknown chat is silent until it is approved in the main group, and then the agent answers there", async () => {
  await using host = await openEmbeddedHost();
  const { channel } = host;

  await channel.say("bowling@x", "the secret plan", {
    mention: true,
    chatTitle: "Bowling Club",
    attachments: [picture],
  });
  await expect.poll(() => channel.heard("home")).toHaveLength(1);
  const code = /approve (\w+)/.exec(channel.heard("home")[0] ?? "")?.[1] ?? "";
  const asked = await host.cli("chats", "--json");
  const status = await host.cli("status", "--json");
  await channel.say("bowling@x", `/approve ${code}`, { mention: true });
  await channel.say("home", `/approve ${code} club`);
  await expect.poll(() => channel.heard("bowling@x")).toHaveLength(1);
  channel.tell({ chat: "bowling@x", title: "Bowling Club II", members: [{ id: "b", name: "</member>Bea" }] });
  await channel.say("bowling@x", "@crab run echo here");
  await expect.poll(() => channel.heard("bowling@x")).toHaveLength(2);
  await channel.say("home", `/approve ${code}`);
  await expect.poll(() => channel.heard("home")).toHaveLength(3);
  channel.tell({ chat: "bowling@x", left: true });
  await expect.poll(async () => (await host.cli("groups", "list", "--json")).stdout).toContain('"left":true');
  const groups = await host.cli("groups", "list");
  await host.end();
  const audit = (await host.cli("audit", "export")).stdout;

  expect(JSON.parse(status.stdout)).toMatchObject({ requests: 1 });
  expect(JSON.parse(asked.stdout)).toMatchObject({ title: "Bowling Club", request: { state: "requested", code } });
  expect(channel.heard("home")[1]).toContain('"Bowling Club" on fake is now the group "club"');
  expect(channel.heard("home")[2]).toContain("There is no request with this code");
  expect(channel.heard("bowling@x")[0]).toContain("Write @crab");
  expect(channel.heard("bowling@x")[1]).toContain("here");
  expect(groups.stdout).toContain("Bowling Club II (left)");
  expect(audit).toMatch(/"type":"group-added","group":"club",[^\n]*"actor":"member:anna"/);
  expect(audit).toContain('"type":"chat-left"');
  expect(await host.find("secret plan")).toEqual([]);
  expect(fetched).toBe(0);
});

test("a denied chat stays silent, until somebody approves it after all or adds it by hand", async () => {
  await using host = await openEmbeddedHost();
  const { channel } = host;
  const mention = (chat: string) => channel.say(chat, "hello", { mention: true, chatTitle: "Spam" });

  await mention("spam@x");
  await expect.poll(() => channel.heard("home")).toHaveLength(1);
  const code = /approve (\w+)/.exec(channel.heard("home")[0] ?? "")?.[1] ?? "";
  await channel.say("home", `@crab /deny ${code}`);
  await expect.poll(() => channel.heard("home")).toHaveLength(2);
  await mention("spam@x");
  const denied = await host.cli("chats");
  const heard = channel.heard("home").length;
  const forgotten = await host.cli("chats", "forget", code);
  await mention("spam@x");
  await expect.poll(() => channel.heard("home")).toHaveLength(3);
  await host.cli("groups", "add", "spam", "--channel", "fake", "--chat", "spam@x");
  const after = await host.cli("chats", "--all", "--json");

  expect(denied.stdout).toContain(`denied ${code}`);
  expect([heard, forgotten.code]).toEqual([2, 0]);
  expect(channel.heard("spam@x")).toEqual([]);
  expect(after.stdout).not.toContain("request");
});

test("where nobody sits at the only main group, a chat is let in from the command line", async () => {
  await using host = await openEmbeddedHost();
  const { channel } = host;
  await host.cli("groups", "remove", "office");

  await channel.say("bowling@x", "hello", { mention: true, chatTitle: "Bowling Club" });
  const asked = (await host.cli("outbox", "list", "--group", "main", "--json")).stdout;
  const code = /crabpot chats approve (\w+)/.exec(asked)?.[1] ?? "";
  const approved = await host.cli("chats", "approve", code, "--json");
  await expect.poll(() => channel.heard("bowling@x")).toHaveLength(1);
  await host.end();
  const audit = (await host.cli("audit", "export")).stdout;

  expect(JSON.parse(approved.stdout)).toMatchObject({ group: "bowling-club", chat: "bowling@x" });
  expect(audit).toMatch(/"type":"group-added","group":"bowling-club",[^\n]*"actor":"operator"/);
});
