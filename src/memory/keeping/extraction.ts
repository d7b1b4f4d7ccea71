import type { Logger } from "pino";

import { type Group, workFolder } from "../../domain/group.ts";
import type { Publish } from "../../events/event.ts";
import { dayNotePrefix, type Memory } from "../item.ts";
import type { MemoryAt } from "../thread/memory-desk.ts";
import type { Standing } from "../thread/orders.ts";
import { extractionPrompt, parseExtraction } from "./extraction-prompt.ts";
import { checkFacts } from "./facts.ts";
import { newestOf } from "./newest.ts";
import { WhenQuiet } from "./when-quiet.ts";

export interface ExtractionOptions {
  /** After how many messages of members; 0: never. */
  readonly everyMessages: () => number;
  /** By the name of the folder in which its agent works. */
  readonly memoryOf: (folder: string) => MemoryAt;
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

const mostMessages = 200;
const mostFacts = 60;

/**
 * Has a model draw facts from what was said, when so much was said and the group is quiet. How far that has come moves in the file of the
 * memory together with the facts, so that they are kept once, whatever dies when; an answer that nobody kept is asked for again.
 */
export class Extraction implements AsyncDisposable {
  readonly #options: ExtractionOptions;
  readonly #quiet: WhenQuiet;

  constructor(options: ExtractionOptions) {
    this.#options = options;
    this.#quiet = new WhenQuiet({
      ...options,
      work: (group, signal) => this.#extract(group, signal),
      failed: (err, group) =>
        options.logger.warn(
          { err, group: group.name },
          "no facts could be drawn from what was said; it is tried again later",
        ),
    });
  }

  /** Something was kept, or a turn has ended: looks again when the group has been quiet for a while. */
  stirred(group: Group, standing: Pick<Standing, "unextracted">): void {
    const every = this.#options.everyMessages();
    if (every > 0 && standing.unextracted >= every) this.#quiet.wait(group);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#quiet[Symbol.asyncDispose]();
  }

  async #extract(group: Group, signal: AbortSignal): Promise<undefined> {
    const { memoryOf, ask, at, publish, logger, everyMessages } = this.#options;
    const memory = memoryOf(workFolder(group));
    if ((await memory.standing()).unextracted < everyMessages()) return;
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
    const data = { messages: said.length, facts: kept.length, refused: refused.length };
    await publish({ type: "memory.extracted", group: group.name, actor: "host", data });
    await memory.advance(kept, { progress: { extracted: last.seq }, supersedes });
  }

  async #knownFacts(memory: MemoryAt): Promise<Memory[]> {
    const facts = await memory.list({ except: "conversation", isCurrent: true, limit: mostFacts });
    return facts.filter(({ id }) => !id.startsWith(dayNotePrefix)).toReversed();
  }
}
