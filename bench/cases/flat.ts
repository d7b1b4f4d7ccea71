import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { TestHost } from "../../test/support/host.ts";
import type { BenchContext } from "../harness/bench.ts";
import type { Client } from "../harness/client.ts";
import { atMost, figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { groupNames, startHost } from "../harness/host.ts";
import { summarize } from "../harness/statistics.ts";

const groupCount = 20;
const messagesPerSecond = 20;

interface Minute {
  readonly p50: number;
  readonly p95: number;
  readonly residentMb: number;
  readonly heapMb: number;
  readonly descriptors: number;
  readonly storeMb: number;
}

/** Twenty messages a second for a long time, whether they are answered or not: what grows meanwhile? */
export async function flat({ minutes, modelUrl, say }: BenchContext): Promise<Figure[]> {
  const groups = groupNames(groupCount);
  await using stack = new AsyncDisposableStack();
  const { host, client } = stack.use(await startHost({ modelUrl, groups }));
  for (const group of groups) await client.time(group, "hello");
  const seen: Minute[] = [];
  const errors: unknown[] = [];
  for (let minute = 1; minute <= minutes; minute += 1) {
    const waits = await speakForAMinute(client, groups, errors);
    const now = { ...summarizeWaits(waits), ...(await lookAt(host)) };
    seen.push(now);
    say(`flat: minute ${minute}: ${describe(now)}, ${waits.length} answered, ${errors.length} errors`);
  }
  for (const error of new Set(errors.map(String))) say(`flat: ${error}`);
  const second = seen.slice(Math.floor(seen.length / 2));
  const about = { bench: "flat" };
  const growth = (figure: string, unit: string, limit: number, of: (minute: Minute) => number): Figure =>
    figureOf({
      ...about,
      figure: `${figure} in the second half`,
      unit: `${unit} a minute`,
      values: [slope(second.map(of))],
      target: atMost(limit, `${unit} a minute`),
    });
  return [
    growth("growth of p50", "ms", 0.2, ({ p50 }) => p50),
    growth("growth of the host", "MiB", 1, ({ residentMb }) => residentMb),
    growth("growth of its heap", "MiB", 1, ({ heapMb }) => heapMb),
    growth("growth of its open descriptors", "files", 0.5, ({ descriptors }) => descriptors),
    figureOf({ ...about, figure: "errors", unit: "messages", values: [errors.length], target: atMost(0, "messages") }),
    figureOf({ ...about, figure: "p50 of each minute", unit: "ms", values: seen.map(({ p50 }) => p50) }),
    figureOf({
      ...about,
      figure: "memory of the host, each minute",
      unit: "MiB",
      values: seen.map((m) => m.residentMb),
    }),
  ];
}

/** Nobody waits for an answer before speaking again; all answers are waited for at the end. */
async function speakForAMinute(client: Client, groups: readonly string[], errors: unknown[]): Promise<number[]> {
  const waits: number[] = [];
  const asking: Promise<void>[] = [];
  const begun = performance.now();
  for (let index = 0; index < 60 * messagesPerSecond; index += 1) {
    await delay(Math.max(0, begun + (index * 1_000) / messagesPerSecond - performance.now()));
    const asked = client.time(groups[index % groups.length] ?? "", `message ${index}`);
    asking.push(
      asked.then(
        (wait) => void waits.push(wait),
        (error: unknown) => void errors.push(error),
      ),
    );
  }
  await Promise.all(asking);
  return waits;
}

function summarizeWaits(waits: readonly number[]): { readonly p50: number; readonly p95: number } {
  const { median, p95 } = summarize(waits);
  return { p50: median, p95 };
}

async function lookAt(host: TestHost): Promise<Omit<Minute, "p50" | "p95">> {
  const metrics = await (await host.get("/metrics")).text();
  const status = await readFile(`/proc/${host.pid}/status`, "utf8");
  const files = ["", "-wal"].map((end) => stat(join(host.home, `crabpot.sqlite${end}`)).catch(() => ({ size: 0 })));
  const bytes = (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
  return {
    residentMb: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024,
    heapMb: Number(/^crabpot_heap_used_bytes (\S+)/m.exec(metrics)?.[1] ?? Number.NaN) / 1024 ** 2,
    descriptors: (await readdir(`/proc/${host.pid}/fd`)).length,
    storeMb: bytes / 1024 ** 2,
  };
}

function describe({ p50, p95, residentMb, heapMb, descriptors, storeMb }: Minute): string {
  const latency = `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`;
  const memory = `host ${residentMb.toFixed(0)} MiB, heap ${heapMb.toFixed(0)} MiB`;
  return `${latency}, ${memory}, ${descriptors} descriptors, store ${storeMb.toFixed(1)} MiB`;
}

/** Slope of the line of best fit through values at equal distances. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let rise = 0;
  let run = 0;
  for (const [at, value] of values.entries()) {
    rise += (at - middle) * (value - mean);
    run += (at - middle) ** 2;
  }
  return run === 0 ? 0 : rise / run;
}
