import type { Logger } from "pino";

import type { ChannelState } from "../channels/channel.ts";
import type { Publish } from "../domain/events/event.ts";
import { toError } from "../lib/app-error.ts";

/** Puts the states of channels on record. Disposing waits for records that are on their way. */
export class ChannelStates implements AsyncDisposable {
  readonly #publish: Publish<"channel.changed">;
  readonly #logger: Logger;
  readonly #recording = new Set<Promise<void>>();

  constructor(publish: Publish<"channel.changed">, logger: Logger) {
    this.#publish = publish;
    this.#logger = logger;
  }

  record(channel: string, state: ChannelState): void {
    const recorded = this.#put(channel, state);
    this.#recording.add(recorded);
    void recorded.then(() => this.#recording.delete(recorded));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#recording);
  }

  async #put(channel: string, { state, detail }: ChannelState): Promise<void> {
    try {
      await this.#publish({ type: "channel.changed", actor: "host", data: { channel, state, detail } });
    } catch (error) {
      this.#logger.error({ err: toError(error), channel }, "the state of a channel could not be recorded");
    }
  }
}
