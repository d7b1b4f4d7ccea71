import { createReadStream } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { SectionName } from "./sections.ts";

const bufferedChars = 64 * 1024;

interface Pile {
  readonly file: FileHandle;
  readonly path: string;
  waiting: string;
  count: number;
}

/**
 * Collects each section in a separate file, as records come in time order and a report may exceed the memory. The files
 * are in a private folder of `$TMPDIR`, removed at the end.
 */
export class Spool implements AsyncDisposable {
  readonly #folder: string;
  readonly #piles = new Map<SectionName, Pile>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<Spool> {
    return new Spool(await mkdtemp(join(tmpdir(), "crabpot-report-")));
  }

  /** Number of entries in the section. */
  count(section: SectionName): number {
    return this.#piles.get(section)?.count ?? 0;
  }

  /** One call at a time. */
  async add(section: SectionName, entry: string): Promise<void> {
    const pile = this.#piles.get(section) ?? (await this.#begin(section));
    pile.waiting += entry;
    pile.count += 1;
    if (pile.waiting.length >= bufferedChars) await flush(pile);
  }

  /** All entries of a section, in their order, as text that goes on from piece to piece. */
  async *read(section: SectionName): AsyncGenerator<string> {
    const pile = this.#piles.get(section);
    if (!pile) return;
    await flush(pile);
    yield* createReadStream(pile.path, "utf8") as AsyncIterable<string>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { file } of this.#piles.values()) await file.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #begin(section: SectionName): Promise<Pile> {
    const path = join(this.#folder, section);
    const pile = { path, file: await open(path, "ax", 0o600), waiting: "", count: 0 };
    this.#piles.set(section, pile);
    return pile;
  }
}

async function flush(pile: Pile): Promise<void> {
  const text = pile.waiting;
  pile.waiting = "";
  if (text !== "") await pile.file.appendFile(text);
}
