import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { getPriority, setPriority } from "node:os";
import { join } from "node:path";

import { MiniLm } from "./minilm.ts";
import { weightsFile, weightsSha256 } from "./model-files.ts";

/*
 * The process in which the local model runs: its arithmetic would hold the host up, and its memory is given back when
 * it ends. It is told a folder and texts, answers with vectors, and ends with the host. What it prints goes nowhere.
 */

/** One question; the answer has the same id. */
interface Question {
  readonly id: number;
  readonly texts: readonly string[];
}

/** Than the host, a little: turns wait for its answers. */
const lessImportant = 4;
const least = 19;
const folder = process.argv[2] ?? "";
let model: Promise<MiniLm> | undefined;

async function load(): Promise<MiniLm> {
  const file = join(folder, weightsFile);
  const weights = await readFile(file);
  const found = createHash("sha256").update(weights).digest("hex");
  if (found !== weightsSha256) throw new Error(`${file} is not the file that was installed: its SHA-256 is ${found}`);
  return MiniLm.load(folder, weights);
}

/** Single texts that are being embedded: what a turn asks for is one. */
const single = new Set<Promise<void>>();
/** One of several texts comes after the others. */
let several: Promise<void> = Promise.resolve();

function take(question: Question): void {
  if (question.texts.length > 1) {
    several = several.then(() => answer(question));
    return;
  }
  const answering = answer(question).finally(() => single.delete(answering));
  single.add(answering);
}

async function answer({ id, texts }: Question): Promise<void> {
  try {
    const loaded = await (model ??= load());
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      if (texts.length > 1) await Promise.all(single);
      vectors.push(await loaded.embed(text));
    }
    process.send?.({ id, vectors });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

setPriority(Math.min(getPriority() + lessImportant, least));
process.on("message", (question) => take(question as Question));
process.on("disconnect", () => process.exit(0));
