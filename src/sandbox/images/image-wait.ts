import type { Group } from "../../domain/chats/group.ts";
import type { WorkSlot } from "../../domain/work/work-slot.ts";
import type { Images } from "./images.ts";

const notice = "The packages of this group are being installed. I answer as soon as that is done.";

/** Lets the first turns of a group wait for its first image, and says so once in its chat. */
export class ImageWait {
  readonly #images: Pick<Images, "ready">;
  readonly #notify: (group: Group, text: string) => Promise<void>;
  readonly #waiting = new Set<string>();

  constructor(images: Pick<Images, "ready">, notify: (group: Group, text: string) => Promise<void>) {
    this.#images = images;
    this.#notify = notify;
  }

  /**
   * Resolves when a turn of the group may begin, as far as that depends on its image: false when the signal has
   * aborted. A turn that waits leaves its place to others.
   */
  async ready(group: Group, signal: AbortSignal, place: Pick<WorkSlot, "leave" | "claim">): Promise<boolean> {
    const hasWaited = await this.#images.ready(group.name, signal, () => this.#begin(group, place));
    if (!hasWaited || signal.aborted) return !signal.aborted;
    this.#waiting.delete(group.name);
    await place.claim(signal);
    return true;
  }

  async #begin(group: Group, place: Pick<WorkSlot, "leave">): Promise<void> {
    place.leave();
    if (this.#waiting.has(group.name)) return;
    this.#waiting.add(group.name);
    await this.#notify(group, notice);
  }
}
