import { Transform } from "node:stream";
import type { TransformCallback } from "node:stream";

import { secretForms } from "../lib/secret-forms.ts";

/** Replaces values by as many asterisks, so that lengths stay as they were announced. */
export class SecretMask {
  readonly #forms: readonly Buffer[];
  /** How often something was replaced. */
  hits = 0;

  constructor(values: readonly string[]) {
    // The longest first: one form may be a part of another.
    const forms = [...new Set(values.flatMap(secretForms))].toSorted((one, other) => other.length - one.length);
    this.#forms = forms.map((form) => Buffer.from(form));
  }

  text(text: string): string {
    const bytes = Buffer.from(text, "latin1");
    this.#cover(bytes);
    return bytes.toString("latin1");
  }

  /** For a body: a value that is spread over chunks is found, too. Only what could be the beginning of one is held back. */
  stream(): Transform {
    let held = Buffer.alloc(0);
    return new Transform({
      transform: (chunk: Buffer, _encoding, done: TransformCallback) => {
        const bytes = Buffer.concat([held, chunk]);
        this.#cover(bytes);
        const safe = bytes.length - this.#openEnd(bytes);
        held = bytes.subarray(safe);
        done(null, bytes.subarray(0, safe));
      },
      flush: (done: TransformCallback) => done(null, held),
    });
  }

  #cover(bytes: Buffer): void {
    for (const form of this.#forms) {
      for (let at = bytes.indexOf(form); at !== -1; at = bytes.indexOf(form, at + form.length)) {
        bytes.fill("*", at, at + form.length);
        this.hits += 1;
      }
    }
  }

  /** Length of the longest end of `bytes` with which one of the values may begin. */
  #openEnd(bytes: Buffer): number {
    let longest = 0;
    for (const form of this.#forms) {
      const first = form[0] ?? 0;
      const from = Math.max(0, bytes.length - form.length + 1);
      for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
        const length = bytes.length - at;
        if (bytes.compare(form, 0, length, at) !== 0) continue;
        longest = Math.max(longest, length);
        break;
      }
    }
    return longest;
  }
}
