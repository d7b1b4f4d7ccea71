import type { Logger } from "pino";

import type { Group } from "../../domain/group.ts";
import type { Publish } from "../../events/event.ts";
import { toError } from "../../lib/app-error.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import { Timers } from "../../lib/time/timers.ts";
import type { Said } from "../file/file-orders.ts";
import type { Memory } from "../item.ts";
import type { MemoryAt } from "../thread/memory-desk.ts";
import type { Standing } from "../thread/orders.ts";
import { extractionPrompt, parseExtraction } from "./extraction-prompt.ts";
import { checkFacts } from "./facts.ts";

export interface ExtractionOptions {
  /** After how many messages of members; 0: never. */
  readonly everyMessages: () => number;
  readonly memoryOf: (group: string) => MemoryAt;
  /** Nothing waits and nothing runs in the group. */
  readonly isIdle: (group: Group) => Promise<boolean>;
  /** The model's answer. Rejects as model calls do. */
  readonly ask: (
    group: Group,
    prompt: { readonly system: readonly string[]; readonly text: string },
    signal: AbortSignal,
  ) => Promise<string>;
  readonly at: (time: number) => string;
  readonly publish: Publish<"memory.extracted">;
  readonly logger: Logger;
  /** How long a group has to be quiet. */
  readonly quietMs?: number | undefined;
}

const usualQuietMs = 5_000;
/** After a failure, such as a budget that is used up. */
const retryMs = 5 * 60_000;
const mostMessages = 200;
const mostChars = 60_000;
const mostFacts = 60;

/**
 * Has a model draw facts from what was said, when so much was said and the group is quiet. How far that has come moves in the file of the
 * memory together with the facts, so that they are kept once, whatever dies when; an answer that nobody kept is asked for again.
 */
export class Extraction implements AsyncDisposable {
  readonly #options: ExtractionOptions;
  readonly #timers = new Timers();
  /** By group. */
  readonly #waiting = new Map<string, Disposable>();
  readonly #working = new Set<string>();
  readonly #ended = new AbortController();
  readonly #pending: PendingWork;

  constructor(options: ExtractionOptions) {
    this.#options = options;
    this.#pending = new PendingWork((error) =>
      options.logger.error({ err: toError(error) }, "facts could not be drawn from what was said"),
    );
  }

  /** Something was kept, or a turn has ended: looks again when the group has been quiet for a while. */
  stirred(group: Group, standing: Pick<Standing, "unextracted">): void {
    const every = this.#options.everyMessages();
    if (every > 0 && standing.unextracted >= every) this.#wait(group, this.#options.quietMs ?? usualQuietMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#timers[Symbol.dispose]();
    await this.#pending.done();
  }

  #wait(group: Group, ms: number): void {
    this.#waiting.get(group.name)?.[Symbol.dispose]();
    const timer = this.#timers.after(ms, () => {
      this.#waiting.delete(group.name);
      if (!this.#working.has(group.name)) this.#pending.add(this.#look(group));
    });
    this.#waiting.set(group.name, timer);
  }

  async #look(group: Group): Promise<void> {
    if (!(await this.#options.isIdle(group))) return this.#wait(group, this.#options.quietMs ?? usualQuietMs);
    this.#working.add(group.name);
    try {
      await this.#extract(group);
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      const about = { err: toError(error), group: group.name };
      this.#options.logger.warn(about, "no facts could be drawn from what was said; it is tried again later");
      this.#wait(group, retryMs);
    } finally {
      this.#working.delete(group.name);
    }
  }

  async #extract(group: Group): Promise<void> {
    const { memoryOf, ask, at, publish, logger, everyMessages } = this.#options;
    const memory = memoryOf(group.name);
    if ((await memory.standing()).unextracted < everyMessages()) return;
    const said = newest(await memory.unextracted(mostMessages));
    const last = said.at(-1);
    if (!last) return;
    const prompt = extractionPrompt(said, await this.#knownFacts(memory), at);
    const answer = await ask(group, prompt, this.#ended.signal);
    const drawn = parseExtraction(answer);
    if (!drawn)
      logger.warn(
        { group: group.name, chars: answer.length },
        "an answer without facts in the form asked for is discarded",
      );
    const { kept, supersedes, refused } = checkFacts(drawn ?? [], prompt);
    if (refused.length > 0) logger.warn({ group: group.name, refused }, "facts of an answer are discarded");
    const data = { messages: said.length, facts: kept.length, refused: refused.length };
    await publish({ type: "memory.extracted", group: group.name, actor: "host", data });
    await memory.advance(kept, { progress: { extracted: last.seq }, supersedes });
  }

  async #knownFacts(memory: MemoryAt): Promise<Memory[]> {
    const facts = await memory.list({ except: "conversation", isCurrent: true, limit: mostFacts });
    return facts.toReversed();
  }
}

/** As much as there is room for, in order. */
function newest(said: readonly Said[]): Said[] {
  let left = mostChars;
  const from = said.findLastIndex(({ text }) => (left -= Math.min(text.length, 2_000)) < 0);
  return said.slice(from + 1);
}
