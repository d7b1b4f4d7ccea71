import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { getPriority, setPriority } from "node:os";
import { join } from "node:path";

import { serveHost } from "../../../processes/inside.ts";
import { embedder } from "../../../processes/protocol.ts";
import { MiniLm } from "./minilm.ts";
import { weightsFile, weightsSha256 } from "./model-files.ts";

/*
 * The local model's process: its computations would block the host, and its memory is freed when it ends. Gets a folder
 * and texts, answers with vectors, and ends with the host. Its output is discarded.
 */

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
const single = new Set<Promise<unknown>>();
/** One of several texts comes after the others. */
let several: Promise<unknown> = Promise.resolve();

async function take(texts: readonly string[]): Promise<Float32Array[]> {
  if (texts.length > 1) {
    const answering = several.then(() => embed(texts));
    several = answering.catch(() => undefined);
    return answering;
  }
  const answering = embed(texts);
  const settled: Promise<unknown> = answering.catch(() => undefined).finally(() => single.delete(settled));
  single.add(settled);
  return answering;
}

async function embed(texts: readonly string[]): Promise<Float32Array[]> {
  const loaded = await (model ??= load());
  const vectors: Float32Array[] = [];
  for (const text of texts) {
    if (texts.length > 1) await Promise.all(single);
    vectors.push(await loaded.embed(text));
  }
  return vectors;
}

setPriority(Math.min(getPriority() + lessImportant, least));
serveHost({ protocol: embedder, answers: { embed: take }, listeners: {} });
