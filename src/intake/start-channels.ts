import type { AcceptMessage, Channel, TakeReaction } from "../channels/channel.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { ChannelStates } from "./channel-states.ts";
import type { ChatBook } from "./chats/chat-book.ts";

/**
 * Begins to take in messages. A channel that cannot be opened is retried automatically, and does not affect the others.
 */
export async function startChannels(
  channels: readonly Channel[],
  options: {
    readonly accept: AcceptMessage;
    readonly reacted: TakeReaction;
    readonly outbox: Pick<Outbox, "wake" | "confirm">;
    readonly chats: Pick<ChatBook, "changed">;
    readonly states: Pick<ChannelStates, "record">;
    /** Called when a channel needs the operator. */
    readonly alert: (channel: string, reason: string) => void;
  },
): Promise<void> {
  const { accept, reacted, outbox, chats, states, alert } = options;
  for (const channel of channels) {
    const { name } = channel;
    await channel.start(accept, {
      reacted,
      delivered: (seq) => outbox.confirm(name, seq),
      chatChanged: (facts) => chats.changed(name, facts),
      needsOperator: (reason) => alert(name, reason),
      changed: (state) => {
        states.record(name, state);
        if (state.state === "open") outbox.wake();
      },
    });
  }
}
