import { type AuditRecord, genesisHash, recordHash } from "../record.ts";
import { type Checkpoint, originOf } from "../signed-note.ts";

/** The first thing that is seen to be wrong; `seq` is the record, or the place of the record, that it is about. */
export interface ChainFault {
  readonly seq: number;
  readonly place: { readonly file?: string; readonly line?: number };
  readonly reason: string;
}

interface Place {
  readonly file: string;
  readonly line: number;
}

interface Link {
  readonly seq: number;
  readonly hash: string;
  readonly prev: string;
  readonly place: Place;
}

/** Something outside of the log that remembers one of its records; `hash` may be its beginning only. */
export interface KnownRecord {
  readonly seq: number;
  readonly hash: string;
  readonly who: string;
}

/** Follows the records of a log from the first to the last and says where they stop fitting together. */
export class Chain {
  readonly #memories: readonly KnownRecord[];
  readonly #genesis: string | undefined;
  #last: Link | undefined;
  /** A record that does not continue `#last`. Which of the two was changed is seen from the record after it. */
  #suspect: Link | undefined;
  #good = 0;
  #declared: ChainFault | undefined;

  /** Without `origin` the beginning of the chain is taken as it is. */
  constructor(memories: readonly KnownRecord[], origin: string | undefined) {
    this.#memories = memories;
    this.#genesis = origin === undefined ? undefined : genesisHash(origin.slice(originOf("").length));
  }

  get head(): { seq: number; hash: string } | undefined {
    return this.#last && { seq: this.#last.seq, hash: this.#last.hash };
  }

  /** Number of valid records so far. */
  get good(): number {
    return this.#good;
  }

  /** The log's own statement that something was lost or changed; the chain goes on behind it. */
  get declared(): ChainFault | undefined {
    return this.#declared;
  }

  /** True when this or the previous record is wrong; the next `accept` or `end` tells which. */
  get isSuspicious(): boolean {
    return this.#suspect !== undefined;
  }

  accept(record: AuditRecord, bytes: Buffer, { day, ...place }: Place & { day: string }): ChainFault | undefined {
    const { seq, prev } = record;
    if (this.#suspect) return this.#decide(prev === this.#suspect.hash);
    const link = { seq, prev, place, hash: recordHash(bytes) };
    const expected = (this.#last?.seq ?? 0) + 1;
    const declares = record.type === "audit-broken" && seq >= expected;
    if (seq !== expected && !declares) return this.#wrongNumber(link, expected);
    if (record.ts.slice(0, 10) > day)
      return { seq, place, reason: `record ${seq} stands in the file of an earlier day` };
    if (!this.#continues(prev)) {
      this.#suspect = link;
      return undefined;
    }
    this.#declared ??= declares ? declaredFault(record, expected, place) : olderFault(record, place);
    return this.#contradiction(link) ?? this.#follow(link);
  }

  /** A line that is not a record at all. */
  noRecord(place: Place): ChainFault {
    if (this.#suspect) return this.#decide(false);
    const seq = (this.#last?.seq ?? 0) + 1;
    return { seq, place, reason: `in place of record ${seq} stands something that is not a record` };
  }

  /** Compares a checkpoint with the last accepted record. */
  compare({ size, head }: Checkpoint): ChainFault | undefined {
    const last = this.#last;
    if (!last || last.seq !== size || last.hash === head) return undefined;
    return {
      seq: size,
      place: last.place,
      reason: `record ${size}, or one before it, is not what its checkpoint signed`,
    };
  }

  /** After the last line: `signed` is the checkpoint that no record has reached. */
  end(signed: Checkpoint | undefined): ChainFault | undefined {
    const suspect = this.#suspect;
    if (suspect) return this.#decide(this.#known(suspect, signed));
    const last = this.#last?.seq ?? 0;
    const missing = [
      ...this.#memories,
      ...(signed ? [{ seq: signed.size, hash: signed.head, who: "a signed checkpoint" }] : []),
    ].find(({ seq }) => seq > last);
    if (!missing) return undefined;
    const reason = `the log ends at record ${last}, but ${missing.who} knows record ${missing.seq}: the end was cut off`;
    return { seq: last + 1, place: this.#last?.place ?? {}, reason };
  }

  #continues(prev: string): boolean {
    const before = this.#last?.hash ?? this.#genesis;
    return before === undefined || prev === before;
  }

  #follow(link: Link): undefined {
    this.#last = link;
    this.#good += 1;
  }

  #known({ seq, hash }: Link, signed: Checkpoint | undefined): boolean {
    return (
      (signed?.size === seq && signed.head === hash) ||
      this.#memories.some((memory) => memory.seq === seq && hash.startsWith(memory.hash))
    );
  }

  #decide(suspectIsIntact: boolean): ChainFault {
    const suspect = this.#suspect;
    const last = this.#last;
    if (suspect && (!suspectIsIntact || !last)) {
      const what = last ? `record ${last.seq}` : "the beginning of the log";
      return { seq: suspect.seq, place: suspect.place, reason: `record ${suspect.seq} does not continue ${what}` };
    }
    const seq = last?.seq ?? 1;
    return {
      seq,
      place: last?.place ?? {},
      reason: `record ${seq} was changed: the record after it continues another one`,
    };
  }

  #wrongNumber(link: Link, expected: number): ChainFault {
    const { seq, place } = link;
    if (seq > expected) {
      const which = seq - 1 === expected ? `record ${expected} is` : `records ${expected} to ${seq - 1} are`;
      return { seq: expected, place, reason: `${which} missing before record ${seq}` };
    }
    if (seq === this.#last?.seq && link.prev === this.#last.prev && link.hash !== this.#last.hash) {
      const reason = `a fork: two different records ${seq} continue record ${seq - 1}; two hosts have written, or one was forged`;
      return { seq, place, reason };
    }
    const reason = `record ${seq} stands where record ${expected} has to be: doubled, moved or put back`;
    return { seq: expected, place, reason };
  }

  #contradiction({ seq, hash, place }: Link): ChainFault | undefined {
    const other = this.#memories.find((memory) => memory.seq === seq && !hash.startsWith(memory.hash));
    return other && { seq, place, reason: `record ${seq}, or one before it, is not what ${other.who} remembers` };
  }
}

function olderFault({ seq, type, data }: AuditRecord, place: Place): ChainFault | undefined {
  if (type !== "store-older") return undefined;
  const { storeRecord, signedRecord } = data;
  const reason = `record ${seq} of the log itself declares that the store was older than the log: it remembered record ${String(storeRecord)}, and record ${String(signedRecord)} was signed`;
  return { seq, place, reason };
}

function declaredFault({ seq, data }: AuditRecord, expected: number, place: Place): ChainFault {
  const reasons = Array.isArray(data["reasons"]) ? data["reasons"].join("; ") : "no reason is given";
  return { seq: expected, place, reason: `record ${seq} of the log itself declares that it was broken: ${reasons}` };
}
