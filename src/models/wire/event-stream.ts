import { setImmediate as nextTurnOfLoop } from "node:timers/promises";

import { createParser } from "eventsource-parser";

import { mebibyte } from "../../lib/text/bytes.ts";

/** The largest event that is read: it is parsed at once, which takes the host about 10 ms a mebibyte. */
const maxEventChars = mebibyte;
/** Characters that are looked through between two looks at the clock. */
const pieceChars = 4_096;
/** Time after which the host does something else before it reads on, in milliseconds. */
const sliceMs = 5;

/**
 * The server-sent events in a body, each as one chunk in its plainest form, without comments and ids
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). Many that come at once are spread over turns of the
 * event loop. Fails where one is larger than 1 MiB.
 */
export async function* readEventStream(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  const events: string[] = [];
  let sinceEvent = 0;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      sinceEvent = 0;
      // The vendor's library ends there, and does not say whether it came.
      if (data === "[DONE]") events.push('data: {"choices":[],"ended":true}\n\n');
      events.push(plainForm(event, data));
    },
  });
  const slice = new Slice();
  for await (const piece of piecesOf(body)) {
    sinceEvent += piece.length;
    parser.feed(piece);
    for (const event of events.splice(0)) {
      yield encoder.encode(event);
      await slice.endIfOver();
    }
    await slice.endIfOver();
    if (sinceEvent > maxEventChars) throw new Error("an event of the answer is larger than 1 MiB");
  }
}

async function* piecesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    for (let at = 0; at < text.length; at += pieceChars) yield text.slice(at, at + pieceChars);
  }
}

/** A share of a turn of the event loop. */
class Slice {
  #begun = performance.now();

  /** Lets the host do something else where this share was used up, and begins the next one. */
  async endIfOver(): Promise<void> {
    if (performance.now() - this.#begun < sliceMs) return;
    await nextTurnOfLoop();
    this.#begun = performance.now();
  }
}

function plainForm(event: string | undefined, data: string): string {
  const type = event === undefined ? "" : `event: ${event}\n`;
  return `${type}data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
}
