import type { Clock } from "../../../lib/time/clock.ts";
import type { ChannelStateStore } from "../../../stores/contract/store.ts";

/** Members who cannot read a message ask for it again within minutes; a day is plenty. */
const keptMs = 24 * 3_600_000;
const keptMessages = 5_000;
/** When, and what is known of it; then its number, if it has one, and then the message. */
const header = 9;
const numberBytes = 8;
const acceptedBit = 1;
const numberedBit = 2;

interface Known {
  readonly at: number;
  isAccepted: boolean;
  /** Number in the outbox of the message, or of the one that it is a part of. */
  readonly seq?: number | undefined;
}

/** Messages sent during the last day, by id: to recognize our own, resend one unchanged, and avoid duplicates. */
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
    const entries = [...(await store.list(space))].map(([id, value]) => ({ id, known: readHeader(value) }));
    for (const { id, known } of entries.toSorted((one, other) => one.known.at - other.known.at)) {
      sent.#known.set(id, known);
    }
    return sent;
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  isAccepted(id: string): boolean {
    return this.#known.get(id)?.isAccepted ?? false;
  }

  /** Returns the outbox number of a message or part. Known before the first send. */
  seqOf(id: string): number | undefined {
    return this.#known.get(id)?.seq;
  }

  async body(id: string): Promise<Uint8Array | undefined> {
    const known = this.#known.get(id);
    return known && (await this.#store.read(this.#space, [id])).get(id)?.subarray(headerOf(known));
  }

  async keep({ id, seq, body }: { id: string; seq?: number | undefined; body: Uint8Array }): Promise<void> {
    const known: Known = { at: this.#clock.now(), isAccepted: false, seq };
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

function write(known: Known, body: Uint8Array): Uint8Array {
  const { at, isAccepted, seq } = known;
  const start = headerOf(known);
  const bytes = Buffer.alloc(start + body.length);
  bytes.writeDoubleBE(at, 0);
  bytes[header - 1] = (isAccepted ? acceptedBit : 0) | (seq === undefined ? 0 : numberedBit);
  if (seq !== undefined) bytes.writeDoubleBE(seq, header);
  bytes.set(body, start);
  return bytes;
}

function headerOf({ seq }: Pick<Known, "seq">): number {
  return seq === undefined ? header : header + numberBytes;
}

/** Entries of earlier versions have no number. */
function readHeader(value: Uint8Array): Known {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const bits = bytes[header - 1] ?? 0;
  const seq = (bits & numberedBit) === 0 ? undefined : bytes.readDoubleBE(header);
  return { at: bytes.readDoubleBE(0), isAccepted: (bits & acceptedBit) !== 0, seq };
}
