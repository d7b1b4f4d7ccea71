import type { Group } from "../domain/group.ts";
import type { ChatCommand, Sender } from "../domain/message.ts";
import type { Clock } from "../lib/clock.ts";
import type { MessageStore, OutboxStore, SessionStore } from "../stores/store.ts";
import { draftFor } from "./turn-parts.ts";

export interface ChatCommandParts {
  readonly store: { readonly messages: MessageStore; readonly sessions: SessionStore; readonly outbox: OutboxStore };
  readonly sessionKey: (group: Group) => string;
  /** Stops the group's turn; false when none was active. */
  readonly cancelTurn: (group: string, reason: string) => boolean;
  /** What a member may know of how things stand, a few lines. */
  readonly describe: (group: Group) => Promise<string>;
  readonly deliver: () => void;
  readonly clock: Clock;
}

/** Runs a command that was said as the message `id`; the notice that it writes to the outbox answers that message. */
export type RunChatCommand = (
  group: Group,
  command: ChatCommand,
  message: { readonly id: string; readonly sender: Sender },
) => Promise<void>;

export function createChatCommands(parts: ChatCommandParts): RunChatCommand {
  const { store } = parts;

  /** Stops the turn and drops what waits; returns the channel ids of what was dropped. */
  async function stop(group: Group, sender: Sender): Promise<{ stopped: boolean; dropped: string[] }> {
    const dropped = await store.messages.dropWaiting(group.name);
    const stopped = parts.cancelTurn(group.name, `Stopped by ${sender.name}.`);
    return { stopped, dropped: dropped.map((message) => message.id) };
  }

  async function notice(group: Group, text: string, inReplyTo: readonly string[]): Promise<void> {
    await store.outbox.add(draftFor(group, { kind: "notice", text, inReplyTo, turn: undefined }), parts.clock.now());
    parts.deliver();
  }

  return async (group, command, message) => {
    switch (command) {
      case "stop": {
        const { stopped, dropped } = await stop(group, message.sender);
        const waiting =
          dropped.length > 0
            ? ` ${dropped.length} waiting ${dropped.length === 1 ? "message was" : "messages were"} dropped.`
            : "";
        const text = stopped ? "Stopping." : dropped.length > 0 ? "Stopped." : "There is nothing to stop.";
        return notice(group, text + waiting, [message.id, ...dropped]);
      }
      case "new": {
        const { dropped } = await stop(group, message.sender);
        const session = await store.sessions.open(parts.sessionKey(group), group.name);
        await store.sessions.renew(session.id);
        const text =
          "A new conversation has begun: what was said before is forgotten. Files in the group's folder are kept.";
        return notice(group, text, [message.id, ...dropped]);
      }
      case "status":
        return notice(group, await parts.describe(group), [message.id]);
    }
  };
}
