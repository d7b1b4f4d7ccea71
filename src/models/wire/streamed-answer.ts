import type { ModelAnswer, ModelUsage } from "../../domain/turns/model.ts";
import type { OnUsage } from "../provider.ts";

/** An answer that grows by what its vendor streams. */
export interface StreamedAnswer<Event> {
  add(event: Event): void;
  /** Throws ProviderError when the stream ended before the answer did. */
  finish(model: string): ModelAnswer;
  /** Undefined while nothing has come: a call that was refused costs nothing. */
  usage(): ModelUsage | undefined;
}

/** Reads an answer until its stream ends; what it has cost until then is told however it ends. */
export async function readStreamed<Event>(
  answer: StreamedAnswer<Event>,
  model: string,
  { signal, onUsage }: { readonly signal: AbortSignal; readonly onUsage?: OnUsage | undefined },
  open: () => PromiseLike<AsyncIterable<Event>>,
): Promise<ModelAnswer> {
  try {
    for await (const event of await open()) answer.add(event);
    signal.throwIfAborted();
    return answer.finish(model);
  } finally {
    const usage = answer.usage();
    if (usage) onUsage?.(usage);
  }
}
