import type { StoredMessage } from "../../../../src/domain/chats/message.ts";

/** A message of the group `family`, with what matters to a test changed. */
export function storedMessage(changes: Partial<StoredMessage> = {}): StoredMessage {
  return {
    seq: 12,
    group: "family",
    channel: "http",
    chat: "family",
    id: "A1",
    sender: { id: "49170", name: "Ann" },
    text: "hello",
    quote: undefined,
    state: "taken",
    turn: undefined,
    receivedAt: Date.UTC(2026, 0, 15, 18, 30),
    ...changes,
  };
}
