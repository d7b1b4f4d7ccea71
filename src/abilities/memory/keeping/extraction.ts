import { agentNamedBy, type Group, workFolder } from "../../../domain/chats/group.ts";
import type { Publish } from "../../../domain/events/event.ts";
import { dayNotePrefix } from "../item.ts";
import type { MemoryAt } from "../thread/memory-client.ts";
import { extractionPrompt, parseExtraction } from "./extraction-prompt.ts";
import { checkFacts } from "./facts.ts";
import { newestOf } from "./newest.ts";
import { toError } from "../../../lib/app-error.ts";
import { type QuietWorkOptions, WhenQuiet } from "./when-quiet.ts";
import type { Memory, ReaderStanding } from "../../../processes/memory-schemas.ts";

export interface ExtractionOptions extends QuietWorkOptions {
  /** After how many messages of members; 0: never. */
  readonly everyMessages: () => number;
  /** The model's answer. Rejects as model calls do. */
  readonly ask: (
    group: Group,
    prompt: { readonly system: readonly string[]; readonly text: string },
    signal: AbortSignal,
  ) => Promise<string>;
  readonly at: (time: number) => string;
  readonly publish: Publish<"memory.extracted">;
}

const mostMessages = 200;
const mostFacts = 60;
const longestNowMs = 60_000;

/**
 * Has a model extract facts once there are enough messages and the group is quiet. Progress is stored in the memory's
 * file together with the facts, so that each is kept once, across crashes; a lost answer is requested again.
 */
export class Extraction implements AsyncDisposable {
  readonly #options: ExtractionOptions;
  readonly #quiet: WhenQuiet;
  /** By the folder in which the group's agent works. */
  readonly #working = new Map<string, Promise<void>>();

  constructor(options: ExtractionOptions) {
    this.#options = options;
    this.#quiet = new WhenQuiet({
      ...options,
      work: (group, signal) => this.#extract(group, signal),
      failure: "no facts could be drawn from what was said; it is tried again later",
    });
  }

  /** Something was kept, or a turn has ended: looks again when the group has been quiet for a while. */
  stirred(group: Group, standing: Pick<ReaderStanding, "unextracted">): void {
    const every = this.#options.everyMessages();
    if (every > 0 && standing.unextracted >= every) this.#quiet.wait(group);
  }

  /**
   * Draws facts from all that is kept, however little that is and whether the group is quiet or not: a summary is about
   * to stand for it. It takes no longer than a while, and never rejects: what it does not come to is drawn later.
   */
  async now(group: Group, signal: AbortSignal): Promise<void> {
    if (this.#options.everyMessages() === 0) return;
    try {
      await this.#extract(group, AbortSignal.any([signal, AbortSignal.timeout(longestNowMs)]), 1);
    } catch (error) {
      const about = { err: toError(error), group: group.name };
      this.#options.logger.info(
        about,
        "no facts were drawn before a conversation is summed up; it is tried again later",
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#quiet[Symbol.asyncDispose]();
  }

  /** One at a time for each memory, so that nothing is drawn twice. */
  async #extract(group: Group, signal: AbortSignal, least = this.#options.everyMessages()): Promise<undefined> {
    const folder = workFolder(group);
    const before = this.#working.get(folder);
    const working = (async () => {
      await before?.catch(() => undefined);
      signal.throwIfAborted();
      await this.#draw(group, signal, least);
    })();
    this.#working.set(folder, working);
    try {
      await working;
    } finally {
      if (this.#working.get(folder) === working) this.#working.delete(folder);
    }
  }

  async #draw(group: Group, signal: AbortSignal, least: number): Promise<void> {
    const { memoryOf, ask, at, publish, logger } = this.#options;
    const memory = memoryOf(workFolder(group));
    if ((await memory.standing()).unextracted < least) return;
    const said = newestOf(await memory.unextracted(mostMessages));
    const last = said.at(-1);
    if (!last) return;
    const prompt = extractionPrompt(said, await this.#knownFacts(memory), at);
    const answer = await ask(group, prompt, signal);
    const drawn = parseExtraction(answer);
    if (!drawn)
      logger.warn(
        { group: group.name, chars: answer.length },
        "an answer without facts in the form asked for is discarded",
      );
    const { kept, supersedes, refused } = checkFacts(drawn ?? [], prompt);
    if (refused.length > 0) logger.warn({ group: group.name, refused }, "facts of an answer are discarded");
    const whose = agentNamedBy(workFolder(group));
    const data = { messages: said.length, facts: kept.length, refused: refused.length, ...whose };
    await publish({ type: "memory.extracted", group: group.name, actor: "host", data });
    await memory.advance(kept, { progress: { extracted: last.seq }, supersedes });
  }

  async #knownFacts(memory: MemoryAt): Promise<Memory[]> {
    const facts = await memory.list({ except: "conversation", isCurrent: true, limit: mostFacts });
    return facts.filter(({ id }) => !id.startsWith(dayNotePrefix)).toReversed();
  }
}
