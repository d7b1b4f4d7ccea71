import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { PlainReview, writeFiles } from "../support/plain-review.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Files, testReviewLayer } from "./review-layer.ts";

function read(side: string, path: string): Promise<string | undefined> {
  return readFile(join(side, path), "utf8").catch(() => undefined);
}

testReviewLayer(async () => {
  const folder = await temporaryFolder();
  const layer = new PlainReview(folder.path);
  await layer.begin();
  return {
    layer: async () => layer,
    operator: (files) => layer.edit(files),
    agent: (files: Files) => writeFiles(layer.seen, files),
    real: (path) => read(layer.source, path),
    seen: (path) => read(layer.seen, path),
    work: (isBusy) => (layer.isBusy = isBusy),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
});
