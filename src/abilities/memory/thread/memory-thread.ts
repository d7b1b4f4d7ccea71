import { parentPort, workerData } from "node:worker_threads";

import { AppError, toError } from "../../../lib/app-error.ts";
import type { EmbedderPlace } from "../../../domain/settings/embedder-place.ts";
import { openEmbedder } from "../embedding/open-embedder.ts";
import type { Weights } from "../search/hybrid.ts";
import type { SlowVectors } from "../index/vectors/open-vectors.ts";
import type { Answer, Notice, Order } from "./messages.ts";
import { OpenMemories } from "./orders.ts";

/*
 * The thread that reads and writes memories: a search of a large memory and a write to the disk would hold the host up.
 * It gets orders about one group's file each, answers them in any order, and ends when it is told to.
 */

const { place, weights } = workerData as { readonly place: EmbedderPlace; readonly weights: Weights };
let embedder = await openEmbedder(place);
let memories = new OpenMemories({ weights, embedder, onSlow });
/** How long a model that is not installed is not looked for again. */
const lookMs = 5_000;
let looked = performance.now();
let looking: Promise<void> | undefined;
let told: string | undefined;

/**
 * The local model may be installed while the host runs. Without one no order takes longer than this, so none is under
 * way when it is found.
 */
async function lookForModel(): Promise<void> {
  if (embedder !== undefined || place === "none") return;
  if (looking === undefined && performance.now() - looked < lookMs) return;
  await (looking ??= takeFoundModel());
}

async function takeFoundModel(): Promise<void> {
  const found = await openEmbedder(place);
  looked = performance.now();
  looking = undefined;
  if (found === undefined) return;
  const before = memories;
  embedder = found;
  memories = new OpenMemories({ weights, embedder, onSlow });
  await before[Symbol.asyncDispose]();
}

/** It is the same for all groups: once is enough. */
function onSlow(slow: SlowVectors): void {
  if (told === slow.strategy) return;
  told = slow.strategy;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage({ slow } satisfies Notice);
}

async function carryOut({ path, name, parameters }: Order): Promise<unknown> {
  await lookForModel();
  return memories.use(path, (orders) => (orders[name] as (...given: readonly unknown[]) => unknown)(...parameters));
}

async function answer(order: Order): Promise<void> {
  let said: Answer;
  try {
    said = { id: order.id, result: await carryOut(order) };
  } catch (thrown) {
    const { message } = toError(thrown);
    const error = thrown instanceof AppError ? thrown : new AppError("store_failed", `The memory failed: ${message}.`);
    said = {
      id: order.id,
      error: { code: error.code, message: error.message, fix: error.fix, passing: error.passing },
    };
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(said);
}

async function end(): Promise<void> {
  await memories[Symbol.asyncDispose]();
  await embedder?.[Symbol.asyncDispose]();
  parentPort?.close();
}

parentPort?.on("message", (order: Order | "end") => void (order === "end" ? end() : answer(order)));
