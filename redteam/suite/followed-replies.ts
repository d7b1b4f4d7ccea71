/** A line of the channel's replies. */
export interface Reply {
  readonly seq: number;
  readonly group: string;
  readonly text: string;
  readonly inReplyTo: readonly string[];
  readonly kind: "reply" | "notice";
  readonly file?: { readonly href: string };
}

/** Asks for replies behind a number; waits at most so long for the first one. */
type ReadReplies = (after: number, waitSeconds: number) => Promise<readonly Reply[]>;

const longestPollSeconds = 5;

/**
 * The replies of a host that goes on replying. Each is fetched once, by one poll for all who wait: hundreds of attacks
 * look for theirs.
 */
export class FollowedReplies {
  readonly #read: ReadReplies;
  readonly #known: Reply[] = [];
  #polling: Promise<void> | undefined;

  constructor(read: ReadReplies) {
    this.#read = read;
  }

  /** All replies behind the one with this number up to now. */
  async after(seq: number): Promise<readonly Reply[]> {
    for (let isNew = true; isNew;) isNew = await this.#fetch(0);
    return this.#knownAfter(seq);
  }

  /** The first reply behind the one with this number that fits, now or later; undefined when none comes in time. */
  async first(fits: (reply: Reply) => boolean, seq: number, limit: AbortSignal): Promise<Reply | undefined> {
    for (let looked = seq; !limit.aborted;) {
      const found = this.#knownAfter(looked).find(fits);
      if (found !== undefined) return found;
      looked = Math.max(looked, this.#last);
      await this.#poll();
    }
    return undefined;
  }

  get #last(): number {
    return this.#known.at(-1)?.seq ?? 0;
  }

  #knownAfter(seq: number): readonly Reply[] {
    return this.#known.slice(this.#known.findLastIndex((reply) => reply.seq <= seq) + 1);
  }

  async #poll(): Promise<void> {
    this.#polling ??= this.#fetch(longestPollSeconds)
      .then(() => undefined)
      .finally(() => (this.#polling = undefined));
    await this.#polling;
  }

  /** False when there was nothing new. */
  async #fetch(waitSeconds: number): Promise<boolean> {
    const replies = await this.#read(this.#last, waitSeconds);
    // Another request may have been faster.
    this.#known.push(...replies.filter(({ seq }) => seq > this.#last));
    return replies.length > 0;
  }
}
