import { Transform } from "node:stream";
import type { TransformCallback } from "node:stream";

import { SecretFinder } from "../../../lib/secrets/secret-finder.ts";

/** Bytes that may stand between two letters or digits of a secret: a line's end, quotes, a zero of UTF-16. */
const maxGap = 8;

/** Builds the finder for masks, once for all answers. */
export function findInAnswers(secrets: readonly string[]): SecretFinder {
  return new SecretFinder(secrets, maxGap);
}

/**
 * Replaces secrets in an answer by as many asterisks as they have bytes, so that lengths stay as they were announced.
 * What else can be seen of an answer depends on how many bytes have come and on nothing in them: a body runs behind by
 * a number of bytes that follows from the secrets alone, and each piece that comes in lets one of the same size go out.
 */
export class SecretMask {
  readonly #finder: SecretFinder;
  readonly #onFound: () => void;

  /** `onFound` is called as soon as a secret is seen, before any byte of it can go out. */
  constructor(finder: SecretFinder, onFound: () => void) {
    this.#finder = finder;
    this.#onFound = onFound;
  }

  /** Texts that follow each other in an answer, such as its headers; a secret may begin in one and end in another. */
  texts(texts: readonly string[]): string[] {
    const bytes = Buffer.from(texts.join("\n"), "latin1");
    for (const { from, to } of this.#finder.find(bytes)) {
      this.#onFound();
      bytes.fill("*", from, to);
    }
    let at = 0;
    return texts.map((text) => {
      const from = at;
      at += text.length + 1;
      return bytes.toString("latin1", from, from + text.length);
    });
  }

  /** For a body, in pieces of any size. */
  stream(): Transform {
    const delay = this.#finder.longestSpan;
    let held = Buffer.alloc(0);
    let gone = 0;
    const scan = this.#finder.scan((from, to) => {
      this.#onFound();
      held.fill("*", from - gone, to - gone);
    });
    return new Transform({
      transform: (chunk: Buffer, _encoding, done: TransformCallback) => {
        // A copy: the piece may be somebody else's, and is written to.
        held = Buffer.concat([held, chunk]);
        scan.read(chunk);
        const ready = held.subarray(0, Math.max(0, held.length - delay));
        held = held.subarray(ready.length);
        gone += ready.length;
        if (ready.length > 0) done(null, ready);
        else done();
      },
      flush: (done: TransformCallback) => done(null, held),
    });
  }
}
