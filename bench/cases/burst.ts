import type { BenchContext } from "../harness/bench.ts";
import { atMost, figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { groupNames, startHost } from "../harness/host.ts";
import { cpuMs } from "../harness/processes.ts";

/** Many messages at once over many groups, of which few can be hot. */
export async function burst({ quick, modelUrl, say }: BenchContext): Promise<Figure[]> {
  const groups = groupNames(quick ? 12 : 100);
  const messages = quick ? 120 : 1_000;
  const maxHot = quick ? 4 : 16;
  await using stack = new AsyncDisposableStack();
  const { host, client } = stack.use(await startHost({ modelUrl, groups, config: { sessions: { maxHot } } }));
  const before = await cpuMs(host.pid);
  const begun = performance.now();
  const waits: number[] = [];
  const errors: string[] = [];
  const asking = Array.from({ length: messages }, async (_, index) => {
    try {
      waits.push(await client.time(groups[index % groups.length] ?? "", `message ${index}`));
    } catch (error) {
      errors.push(String(error));
    }
  });
  await Promise.all(asking);
  const elapsed = performance.now() - begun;
  const used = (await cpuMs(host.pid)) - before;
  for (const error of new Set(errors.map((text) => text.slice(0, 300)))) say(`burst: ${error}`);
  const about = { bench: "burst" };
  return [
    figureOf({
      ...about,
      figure: "host CPU a message",
      unit: "ms",
      values: [used / messages],
      target: atMost(6, "ms"),
    }),
    figureOf({ ...about, figure: "errors", unit: "messages", values: [errors.length], target: atMost(0, "messages") }),
    figureOf({ ...about, figure: `${messages} messages, ${groups.length} groups`, unit: "ms", values: [elapsed] }),
    figureOf({ ...about, figure: "post to reply", unit: "ms", values: waits }),
  ];
}
