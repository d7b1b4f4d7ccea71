import type { Clock } from "../../../lib/time/clock.ts";
import type { ChannelStateStore } from "../../../stores/store.ts";

/** Members who cannot read a message ask for it again within minutes; a day is plenty. */
const keptMs = 24 * 3_600_000;
const keptMessages = 5_000;
const header = 9;

interface Known {
  readonly at: number;
  isAccepted: boolean;
}

/** What we sent in the last day, by id: to know our own messages, to send a message again as it was, and not to send it twice. */
export class Sent {
  readonly #store: ChannelStateStore;
  readonly #space: string;
  readonly #clock: Pick<Clock, "now">;
  /** Oldest first. */
  readonly #known = new Map<string, Known>();

  private constructor(store: ChannelStateStore, space: string, clock: Pick<Clock, "now">) {
    this.#store = store;
    this.#space = space;
    this.#clock = clock;
  }

  static async load(store: ChannelStateStore, space: string, clock: Pick<Clock, "now">): Promise<Sent> {
    const sent = new Sent(store, space, clock);
    const entries = [...(await store.list(space))].map(([id, value]) => ({ id, ...readHeader(value) }));
    for (const { id, at, isAccepted } of entries.toSorted((one, other) => one.at - other.at)) {
      sent.#known.set(id, { at, isAccepted });
    }
    return sent;
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  isAccepted(id: string): boolean {
    return this.#known.get(id)?.isAccepted ?? false;
  }

  async body(id: string): Promise<Uint8Array | undefined> {
    if (!this.#known.has(id)) return undefined;
    return (await this.#store.read(this.#space, [id])).get(id)?.subarray(header);
  }

  async keep(id: string, body: Uint8Array): Promise<void> {
    const known: Known = { at: this.#clock.now(), isAccepted: false };
    this.#known.delete(id);
    this.#known.set(id, known);
    const changes = new Map<string, Uint8Array | null>([[id, write(known, body)]]);
    for (const old of this.#tooOld()) {
      changes.set(old, null);
      this.#known.delete(old);
    }
    await this.#store.apply(this.#space, changes);
  }

  async accepted(id: string): Promise<void> {
    const known = this.#known.get(id);
    const body = await this.body(id);
    if (!known || !body) return;
    known.isAccepted = true;
    await this.#store.apply(this.#space, new Map([[id, write(known, body)]]));
  }

  #tooOld(): string[] {
    const surplus = this.#known.size - keptMessages;
    const oldest = this.#clock.now() - keptMs;
    const entries = [...this.#known];
    return entries.flatMap(([id, { at }], index) => (index < surplus || at < oldest ? [id] : []));
  }
}

function write({ at, isAccepted }: Known, body: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(header + body.length);
  bytes.writeDoubleBE(at, 0);
  bytes[header - 1] = isAccepted ? 1 : 0;
  bytes.set(body, header);
  return bytes;
}

function readHeader(value: Uint8Array): Known {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return { at: bytes.readDoubleBE(0), isAccepted: bytes[header - 1] === 1 };
}
