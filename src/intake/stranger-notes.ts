import type { IncomingMessage } from "../domain/chats/message.ts";
import type { Clock } from "../lib/time/clock.ts";
import { utcDay } from "../lib/time/utc-day.ts";
import type { Store } from "../stores/contract/store.ts";

/** Each may be a chat of its own, and with it a row that stays: about 12 MB of them. */
const notesPerDay = 20_000;

/**
 * Notes that somebody spoke in a chat that is no group, for the operator's list of chats. Whoever can make up chats
 * could fill the store with them, so beyond so many a day (UTC) nothing is noted.
 */
export class StrangerNotes {
  readonly #chats: Pick<Store["chats"], "seen">;
  readonly #clock: Pick<Clock, "now">;
  #day = "";
  #count = 0;

  constructor(chats: Pick<Store["chats"], "seen">, clock: Pick<Clock, "now">) {
    this.#chats = chats;
    this.#clock = clock;
  }

  async note({ channel, chat, chatTitle: title }: IncomingMessage): Promise<void> {
    const at = this.#clock.now();
    const day = utcDay(at);
    if (day !== this.#day) this.#count = 0;
    this.#day = day;
    this.#count += 1;
    if (this.#count <= notesPerDay) await this.#chats.seen({ channel, chat, group: undefined, at, title });
  }
}
