import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Seconds of files that the table of times does not have, by where they are: it has those that take longer than five.
 */
const usualSeconds: Readonly<Record<string, number>> = {
  "test/faults/": 5,
  "test/scenarios/": 4,
  "test/docker/": 4,
  "test/whatsapp/": 3,
  "test/contracts/": 1,
};

/** Starts long files first, so that the workers end together. */
export class LongestFirst extends BaseSequencer {
  readonly #times = JSON.parse(readFileSync(join(import.meta.dirname, "../times.json"), "utf8")) as Record<
    string,
    number
  >;

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted: TestSpecification[] = await super.sort(files); // oxlint-disable-line unicorn/no-array-sort -- of the sequencer
    return sorted.toSorted((one, other) => this.#secondsOf(other) - this.#secondsOf(one));
  }

  /** Seconds by the last run in this checkout; a fresh clone knows none. */
  #secondsOf(file: TestSpecification): number {
    const last = this.ctx.cache.getTestSpecificationResult(file)?.duration;
    if (last !== undefined && last > 0) return last / 1000;
    const path = relative(this.ctx.config.root, file.moduleId).replaceAll(sep, "/");
    const folder = Object.keys(usualSeconds).find((start) => path.startsWith(start)) ?? "";
    return this.#times[path] ?? usualSeconds[folder] ?? 0;
  }
}
