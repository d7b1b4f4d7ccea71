import type { Group } from "../domain/chats/group.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { OutboxStore } from "../stores/contract/outbox-store.ts";

/** Sends a group what the host itself has to say. */
export class GroupNotices {
  readonly #store: Pick<OutboxStore, "add">;
  readonly #deliver: () => void;
  readonly #clock: Pick<Clock, "now">;

  constructor(store: Pick<OutboxStore, "add">, deliver: () => void, clock: Pick<Clock, "now">) {
    this.#store = store;
    this.#deliver = deliver;
    this.#clock = clock;
  }

  async send({ name, channel, chat, acting }: Group, text: string): Promise<void> {
    const about = { group: name, channel, chat, agent: acting?.name };
    await this.#store.add({ ...about, kind: "notice", text, inReplyTo: [], turn: undefined }, this.#clock.now());
    this.#deliver();
  }
}
