import type { IncomingMessage } from "../domain/chats/message.ts";
import type { Clock } from "../lib/time/clock.ts";
import { utcDay } from "../lib/time/utc-day.ts";
import type { Store } from "../stores/contract/store.ts";

/** Each note may be a chat and so a lasting row: about 12 MB in all. */
const notesPerDay = 20_000;

/**
 * Notes messages in unknown chats for the operator's list. Limited per day (UTC), because invented chats could fill the
 * store.
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
