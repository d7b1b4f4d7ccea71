import { execFile } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { crabpotProcess } from "../../test/support/crabpot.ts";
import type { TestHost } from "../../test/support/host.ts";
import type { BenchContext } from "../harness/bench.ts";
import { Client } from "../harness/client.ts";
import { atMost, atMostFloors, figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { runInContainer } from "../harness/floors.ts";
import { groupNames, prepareHost } from "../harness/host.ts";
import { childrenCpuMs } from "../harness/processes.ts";

/** From the start of the process until it takes messages. */
export async function start({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  await using host = await prepareHost({ modelUrl, groups: ["one"] });
  const values: number[] = [];
  for (let run = -1; run < (quick ? 3 : 15); run += 1) {
    const elapsed = await timeStart(host);
    await host.end("SIGTERM");
    if (run >= 0) values.push(elapsed);
  }
  return [
    figureOf({ bench: "start", figure: "process start to ready", unit: "ms", values, target: atMost(600, "ms") }),
  ];
}

/** The same after the host was killed with hot containers, which it takes over before it is ready. */
export async function adopt({ quick, modelUrl, say }: BenchContext): Promise<Figure[]> {
  const groups = groupNames(quick ? 4 : 16);
  await using host = await prepareHost({ modelUrl, groups });
  await timeStart(host);
  await askEach(host, groups);
  const hot = await host.containers();
  const values: number[] = [];
  for (let run = 0; run < (quick ? 2 : 5); run += 1) {
    await host.end("SIGKILL");
    values.push(await timeStart(host));
  }
  const kept = (await host.containers()).filter((id) => hot.includes(id)).length;
  say(`adopt: ${kept} of ${hot.length} containers were taken over`);
  const about = { bench: "adopt", figure: `restart with ${groups.length} hot containers`, unit: "ms" };
  return [
    figureOf({ ...about, values, target: atMost(1_500, "ms") }),
    figureOf({
      bench: "adopt",
      figure: "containers that were lost",
      unit: "",
      values: [hot.length - kept],
      target: atMost(0, ""),
    }),
  ];
}

/** A command from its start to its end, beside a Node that does nothing: processor time. */
export async function commands({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  await using host = await prepareHost({ modelUrl, groups: ["one"] });
  await timeStart(host);
  const figures: Figure[] = [];
  for (const words of [["--help"], ["version"], ["status"], ["groups", "list"]]) {
    const values: number[] = [];
    const floors: number[] = [];
    for (let run = -1; run < (quick ? 3 : 9); run += 1) {
      const floor = await cpuOfStart(() => promisify(execFile)(process.execPath, ["-e", "0"]));
      const value = await cpuOfStart(() => crabpotProcess({ home: host.home }, ...words));
      // Before it is compiled for the first time it is another program.
      if (run < 0) continue;
      floors.push(floor);
      values.push(value);
    }
    figures.push(
      figureOf({
        bench: "commands",
        figure: `crabpot ${words.join(" ")}: CPU`,
        unit: "ms",
        values,
        floor: { name: "empty Node", values: floors },
        target: atMostFloors(3),
      }),
    );
  }
  await host.end("SIGTERM");
  return figures;
}

/** Processor time of children is counted in steps of 10 ms, so several starts are measured together. */
const startsPerValue = 5;

async function cpuOfStart(run: () => Promise<unknown>): Promise<number> {
  const before = await childrenCpuMs();
  for (let count = 0; count < startsPerValue; count += 1) await run();
  return ((await childrenCpuMs()) - before) / startsPerValue;
}

/**
 * The agent in its container until it tells the host that it is ready, beside a Node that does nothing: processor time.
 */
export async function agentStart({ quick }: BenchContext): Promise<Figure[]> {
  const pairs = JSON.parse(await runInContainer("agent-starts", String(quick ? 5 : 25))) as [number, number][];
  return [
    figureOf({
      bench: "agent-start",
      figure: "start to ready: CPU",
      unit: "ms",
      values: pairs.map(([, agent]) => agent),
      floor: { name: "empty Node", values: pairs.map(([empty]) => empty) },
      target: atMostFloors(2),
    }),
  ];
}

async function askEach(host: TestHost, groups: readonly string[]): Promise<void> {
  await using client = new Client(host);
  for (const group of groups) await client.time(group, "hello");
}

async function timeStart(host: TestHost): Promise<number> {
  const begun = performance.now();
  host.launch();
  while (host.isRunning && !(await isReady(host.url))) await delay(5);
  if (!host.isRunning) throw new Error(`the host ended:\n${host.output.join("")}`);
  return performance.now() - begun;
}

async function isReady(url: string): Promise<boolean> {
  try {
    const [answer] = (await once(request(`${url}/health/ready`).end(), "response")) as [IncomingMessage];
    answer.resume();
    return answer.statusCode === 200;
  } catch {
    return false;
  }
}
