import { expect, test } from "vitest";

import type { StoredAttachment, StoredMessage } from "../../../src/domain/chats/message.ts";
import type { Part } from "../../../src/domain/chats/part.ts";
import { sourcesOf } from "../../../src/domain/rights/sourced.ts";
import { localClock } from "../../../src/lib/time/zone-clock.ts";
import type { RoleOf } from "../../../src/rights/people/roles.ts";
import { sayMessages } from "../../../src/turns/steps/message-origins.ts";
import { someGroup } from "../../support/some-group.ts";

/** Ids are what they are, and whoever is not known is a member. */
const roleOf: RoleOf = (_group, { channel, id }) => {
  if (channel !== "fake") return "guest";
  return id === "owner" || id === "admin" || id === "guest" ? id : "member";
};

function message(sender: string, more: Partial<StoredMessage> = {}): StoredMessage {
  return {
    seq: 1,
    group: "family",
    channel: "fake",
    chat: "chat",
    id: "m",
    sender: { id: sender, name: "owner" },
    text: "hello",
    quote: undefined,
    state: "context",
    turn: undefined,
    receivedAt: 1,
    ...more,
  };
}

const shown = { omitted: 0, agentName: "crab", timeZone: localClock("UTC"), idOf: String };

const read = (messages: readonly StoredMessage[], images?: ReadonlyMap<StoredAttachment, Part | string>) =>
  sourcesOf(sayMessages(roleOf, someGroup("family"), { ...shown, messages, images })).origins.toSorted();

test("words have the role of their sender's id, whatever the name says, also those that are only context", () => {
  expect(read([message("owner"), message("bo"), message("guest")])).toEqual(["guest", "member", "owner"]);
  expect(read([message("owner", { channel: "other" })])).toEqual(["guest"]);
});

test("forwarded words are a guest's; a quote has the role of its author, or what the agent's turn had read", () => {
  expect(read([message("owner", { forwarded: true })])).toEqual(["guest", "owner"]);
  expect(read([message("owner", { quote: { id: "q", author: { id: "admin", name: "x" }, text: "old" } })])).toEqual([
    "admin",
    "owner",
  ]);
  expect(read([message("owner", { quote: { id: "q", text: "old" } })])).toEqual(["guest", "owner"]);
  expect(read([message("owner", { quote: { id: "q" } })])).toEqual(["owner"]);
  const yours = { id: "q", text: "mine", author: "agent" } as const;
  expect(read([message("owner", { quote: yours })])).toEqual(["owner"]);
  expect(read([message("owner", { quote: { ...yours, origins: ["web"] } })])).toEqual(["owner", "web"]);
});

test("a picture that the model is shown is a file, and so is the caption that is shown in its place", () => {
  const attachment = { kind: "image" } as const;
  const said = message("owner", { attachments: [attachment] });
  const picture = { kind: "image", blob: "0".repeat(64), mimeType: "image/png", bytes: 1 } as const;

  expect(read([said])).toEqual(["owner"]);
  expect(read([said], new Map([[attachment, picture]]))).toEqual(["file", "owner"]);
  const caption = { kind: "text", text: "a caption" } as const;
  expect(read([said], new Map([[attachment, caption]]))).toEqual(["file", "owner"]);
  expect(read([said], new Map([[attachment, "why there is none"]]))).toEqual(["owner"]);
});
