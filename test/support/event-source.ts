/** One server-sent event, as a browser reads it. */
export interface SentEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** A subscriber of server-sent events. */
export interface EventSourceReader extends Disposable {
  readonly response: Response;
  /** All that has come, lines that are no event among it. */
  readonly raw: () => string;
  /** Resolves with the next event that fits; rejects when the stream ends before. */
  until(fits: (event: SentEvent) => boolean): Promise<SentEvent>;
  /** All events that are still to come, up to the end. */
  rest(): Promise<SentEvent[]>;
}

export async function openEventSource(url: string, headers: Record<string, string>): Promise<EventSourceReader> {
  const left = new AbortController();
  const response = await fetch(url, { headers, signal: left.signal });
  let raw = "";
  const events = read(response, (text) => (raw += text));
  return {
    response,
    raw: () => raw,
    until: async (fits) => {
      for (;;) {
        const next = await events.next();
        if (next.done === true) throw new Error("The stream has ended.");
        if (fits(next.value)) return next.value;
      }
    },
    rest: async () => Array.fromAsync(events),
    [Symbol.dispose]: () => left.abort(),
  };
}

async function* read(response: Response, heard: (text: string) => void): AsyncGenerator<SentEvent> {
  let waiting = "";
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    heard(text);
    waiting += text;
    const blocks = waiting.split("\n\n");
    waiting = blocks.pop() ?? "";
    yield* blocks.flatMap(parse);
  }
}

function parse(block: string): SentEvent[] {
  const fields = new Map(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  const data = fields.get("data");
  if (data === undefined) return [];
  return [
    { id: fields.get("id"), event: fields.get("event") ?? "message", data: JSON.parse(data) as SentEvent["data"] },
  ];
}
