import { setTimeout as delay } from "node:timers/promises";

import { proportionalMb } from "../../src/lib/process/proportional-memory.ts";
import type { BenchContext } from "../harness/bench.ts";
import { atMost, figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { groupNames, startHost } from "../harness/host.ts";
import { cpuMs, processesOf, voluntarySwitches } from "../harness/processes.ts";

/** Measures a host and its hot containers while nobody talks. */
export async function idle({ quick, modelUrl, say }: BenchContext): Promise<Figure[]> {
  const groups = groupNames(quick ? 4 : 20);
  const seconds = quick ? 10 : 30;
  await using stack = new AsyncDisposableStack();
  const config = { sessions: { freezeSeconds: 2 } };
  const { host, client } = stack.use(await startHost({ modelUrl, groups, config }));
  for (const group of groups) await client.time(group, "hello");
  const containers = await Promise.all((await host.containers()).map((id) => processesOf(id)));
  // What the last turn left to be done.
  await delay(5_000);
  const pids = containers.flat();
  const before = await use(host.pid, pids);
  await delay(seconds * 1_000);
  const after = await use(host.pid, pids);
  const memory = await Promise.all(
    containers.map(async (own) => (await Promise.all(own.map(proportionalMb))).reduce((sum, mb) => sum + mb, 0)),
  );
  say(`idle: ${groups.length} hot containers, ${pids.length} processes in them`);
  const share = (ms: number): number => (ms / (seconds * 1_000)) * 100;
  const about = { bench: "idle" };
  return [
    figureOf({
      ...about,
      figure: "host CPU",
      unit: "% of a core",
      values: [share(after.host - before.host)],
      target: atMost(0.5, "% of a core"),
    }),
    figureOf({
      ...about,
      figure: "host wake-ups",
      unit: "a second",
      values: [(after.switches - before.switches) / seconds],
    }),
    figureOf({
      ...about,
      figure: "CPU of all containers",
      unit: "% of a core",
      values: [share(after.containers - before.containers)],
      target: atMost(0, "% of a core"),
    }),
    figureOf({
      ...about,
      figure: "memory of a container (proportional)",
      unit: "MiB",
      values: memory,
      target: atMost(45, "MiB"),
    }),
    figureOf({
      ...about,
      figure: "memory of the host (proportional)",
      unit: "MiB",
      values: [await proportionalMb(host.pid)],
      target: atMost(140, "MiB"),
    }),
  ];
}

async function use(host: number, containers: readonly number[]) {
  const used = await Promise.all(containers.map(cpuMs));
  return {
    host: await cpuMs(host),
    switches: await voluntarySwitches(host),
    containers: used.reduce((sum, ms) => sum + ms, 0),
  };
}
