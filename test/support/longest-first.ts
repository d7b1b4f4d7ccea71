import { relative, sep } from "node:path";

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take a minute or more, the longest first, then what needs an engine. A fresh clone knows nothing of earlier runs. */
const first = [
  "test/docker/redteam.test.ts",
  "test/faults/containers.test.ts",
  "test/faults/engine.test.ts",
  "test/faults/crash-points.test.ts",
  "test/faults/",
  "test/docker/package-image.test.ts",
  "test/scenarios/",
  "test/docker/",
  "test/whatsapp/",
  "test/contracts/",
];

/** So that the workers end together: a long file that begins last would run alone. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted: TestSpecification[] = await super.sort(files); // oxlint-disable-line unicorn/no-array-sort -- of the sequencer
    return sorted.toSorted((one, other) => this.#rank(one) - this.#rank(other));
  }

  #rank({ moduleId }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId).replaceAll(sep, "/");
    const rank = first.findIndex((start) => path.startsWith(start));
    return rank < 0 ? first.length : rank;
  }
}
