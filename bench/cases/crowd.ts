import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import type { Channel } from "../../src/channels/channel.ts";
import { gatherCrowd } from "../../test/support/crowd.ts";
import type { BenchContext } from "../harness/bench.ts";
import type { Figure } from "../harness/figure.ts";
import { atMost, figureOf, type FigureWish } from "../harness/figure.ts";

const perGroup = 20;
/** An agent that is told to end may still be there when the next one comes: so there may be twice as many. */
const places = 16;
const lookEveryMs = 5_000;
const longestMs = 30 * 60_000;

interface Looks {
  readonly count: number;
  readonly tookS: number;
  readonly processorMs: number;
  readonly heaps: readonly number[];
  /** Largest lead of a group over another, in replies. */
  readonly lead: number;
  readonly replies: number;
  readonly agents: number;
}

/**
 * The same tasks as whole turns: claim, queue, conversation, mailbox, model, audit, delivery. Agents run in this
 * process, so that what is measured is the host and not the engine.
 */
export async function crowd(context: BenchContext): Promise<Figure[]> {
  const groups = context.quick ? 50 : 500;
  const { count, tookS, processorMs, heaps, lead, replies, agents } = await watch(context, groups);
  const half = heaps.slice(Math.floor(heaps.length / 2));
  const exactly = { text: "each once", holds: ({ median }: { readonly median: number }) => median === count };
  return [
    figure(`${count} tasks of ${groups} groups, whole turns`, "s", [tookS]),
    figure("a turn", "ms", [(tookS * 1_000) / count]),
    figure("processor of host and agents, a turn", "ms", [processorMs / count]),
    figure("replies", "replies", [replies], exactly),
    figure("agents at once, at most", "agents", [agents], atMost(2 * places, "agents")),
    figure("replies that a group was ahead of another", "replies", [lead], atMost(5, "replies")),
    figure("growth of the heap in the second half", "MiB", [Math.max(...half) - (half[0] ?? 0)], atMost(8, "MiB")),
    figure("heap after collection", "MiB", heaps),
  ];
}

function figure(name: string, unit: string, values: readonly number[], target?: FigureWish["target"]): Figure {
  return figureOf({ bench: "crowd", figure: name, unit, values, target });
}

async function watch({ modelUrl, say }: BenchContext, groups: number): Promise<Looks> {
  const count = groups * perGroup;
  const channel = new Counting();
  const config = { sessions: { maxHot: places } };
  await using gathered = await gatherCrowd({ groups, tasksPerGroup: perGroup, channel, modelUrl, config });
  const { agents } = gathered;
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await using host = await gathered.start();
  const heaps: number[] = [];
  let lead = 0;
  while (channel.seen.size < count && performance.now() - begun < longestMs) {
    await delay(lookEveryMs);
    heaps.push(await usedMb());
    lead = Math.max(lead, channel.lead(groups));
    say(`crowd: ${channel.seen.size} of ${count}, heap ${heaps.at(-1)?.toFixed(1)} MiB, ${agents.running} agents`);
  }
  if (channel.seen.size < count) throw new Error(`only ${channel.seen.size} of ${count} tasks were answered in time`);
  const tookS = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  await host.settled();
  const processorMs = (user + system) / 1_000;
  return { count, tookS, processorMs, heaps, lead, replies: channel.sends, agents: agents.most };
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

async function usedMb(): Promise<number> {
  collect();
  await delay(0);
  collect();
  return process.memoryUsage().heapUsed / 1_048_576;
}

/** Takes everything, and counts it. */
class Counting implements Channel {
  readonly name = "counting";
  readonly idempotent = true;
  sends = 0;
  readonly seen = new Set<number>();
  readonly #byChat = new Map<string, number>();

  async start(): Promise<void> {}

  async send({ chat, seq }: { readonly chat: string; readonly seq: number }): Promise<void> {
    this.sends += 1;
    this.seen.add(seq);
    this.#byChat.set(chat, (this.#byChat.get(chat) ?? 0) + 1);
  }

  state() {
    return { state: "open", since: 1 } as const;
  }

  /** Lead of the first group over the last. */
  lead(groups: number): number {
    const counts = [...this.#byChat.values()];
    return Math.max(0, ...counts) - (counts.length < groups ? 0 : Math.min(...counts));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
