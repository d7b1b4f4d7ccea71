import { join } from "node:path";

import type { PluginIsolation } from "../../src/domain/sandbox/contained-plugin.ts";
import type { Plugins } from "../../src/plugins/plugins.ts";
import type { HostTool } from "../../src/tools/define-tool.ts";
import { examplePlugins } from "../../test/support/plugins.ts";
import { type PottedPlugins, pottedPlugins } from "../../test/support/potted-plugins.ts";
import type { BenchContext } from "../harness/bench.ts";
import { atMostFloors, figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { containerFloor } from "../harness/floors.ts";

/** A call of a plugin's tool in its container, beside one in a process; and the first call, beside a bare container. */
export async function pluginCall({ quick }: BenchContext): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const potted = stack.use(await pottedPlugins(async () => [join(examplePlugins, "weather")]));
  const [inPot, beside] = [await potted.open(), await potted.open({ isolation: "process" })];
  const calls = { values: [] as number[], floor: [] as number[] };
  for (let run = -20; run < (quick ? 100 : 1_000); run += 1) {
    const [value, floor] = [await timeCall(inPot), await timeCall(beside)];
    if (run >= 0) calls.values.push(value);
    if (run >= 0) calls.floor.push(floor);
  }
  const bare = await containerFloor(stack);
  const starts = { values: [] as number[], floor: [] as number[], process: [] as number[] };
  for (let run = -1; run < (quick ? 3 : 15); run += 1) {
    const floor = await bare();
    const value = await timeStart(potted, "container");
    const process = await timeStart(potted, "process");
    if (run < 0) continue;
    starts.values.push(value);
    starts.floor.push(floor);
    starts.process.push(process);
  }
  const bench = "plugin-call";
  return [
    figureOf({
      bench,
      figure: "call in its container",
      unit: "ms",
      values: calls.values,
      floor: { name: "call in a process", values: calls.floor },
      target: atMostFloors(1.3),
    }),
    figureOf({
      bench,
      figure: "start in a container",
      unit: "ms",
      values: starts.values,
      floor: { name: "bare container", values: starts.floor },
      target: atMostFloors(1.5),
    }),
    figureOf({ bench, figure: "start in a process", unit: "ms", values: starts.process }),
  ];
}

async function timeCall({ tools }: Plugins): Promise<number> {
  const tool = tools.find(({ name }) => name === "get_weather") as HostTool;
  const place = { group: "main", turn: "t1", signal: new AbortController().signal } as Parameters<HostTool["run"]>[1];
  const begun = performance.now();
  await tool.run({ town: "Rome" }, place);
  return performance.now() - begun;
}

async function timeStart(potted: PottedPlugins, isolation: PluginIsolation): Promise<number> {
  await using plugins = await potted.open({ isolation });
  return await timeCall(plugins);
}
