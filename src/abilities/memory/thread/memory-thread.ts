import type * as z from "zod";

import { AppError, toError } from "../../../lib/app-error.ts";
import type { EmbedderSource } from "../../../domain/settings/embedder-source.ts";
import { openEmbedder } from "../embedding/open-embedder.ts";
import type { Weights } from "../search/hybrid.ts";
import { appFailures } from "../../../processes/failures.ts";
import { serveHost, threadData } from "../../../processes/inside.ts";
import type { Answers, Line } from "../../../processes/line.ts";
import { memoryThread } from "../../../processes/protocol.ts";
import { OpenMemories } from "./open-memories.ts";
import type { SlowVectors } from "../../../processes/memory-schemas.ts";

/*
 * The thread that reads and writes memories: a search of a large memory and a write to the disk would hold the host up.
 * It gets orders about one group's file each, answers them in any order, and ends when it is told to.
 */

const { place, weights } = threadData as { readonly place: EmbedderSource; readonly weights: Weights };
let embedder = await openEmbedder(place);
let memories = new OpenMemories({ weights, embedder, onSlow });
/** Time until a missing model is looked for again. */
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

/** Reports slow vectors once, as all groups share the reason. */
function onSlow(slow: SlowVectors): void {
  if (told === slow.strategy) return;
  told = slow.strategy;
  host.tell("slow", slow);
}

type Calls = typeof memoryThread.process.calls;

async function carryOut<Name extends keyof Calls>(
  name: Name,
  { path, parameters }: { readonly path: string; readonly parameters: readonly unknown[] },
): Promise<z.input<Calls[Name]["output"]>> {
  try {
    await lookForModel();
    return await memories.use(path, (orders) => {
      const order = orders[name] as (...given: readonly unknown[]) => z.input<Calls[Name]["output"]>;
      return order(...parameters);
    });
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError("store_failed", `The memory failed: ${toError(thrown).message}.`);
  }
}

async function end(): Promise<void> {
  await memories[Symbol.asyncDispose]();
  await embedder?.[Symbol.asyncDispose]();
}

const names = Object.keys(memoryThread.process.calls) as (keyof Calls)[];
const answers = names.map((name) => [name, (value: Parameters<typeof carryOut>[1]) => carryOut(name, value)]);
const host: Line<typeof memoryThread.process, typeof memoryThread.host> = serveHost({
  protocol: memoryThread,
  answers: Object.fromEntries(answers) as Answers<typeof memoryThread.process>,
  listeners: {},
  onEnd: end,
  failures: appFailures,
});
