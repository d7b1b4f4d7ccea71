import { setTimeout as delay } from "node:timers/promises";

import type { TestHost } from "../../test/support/host.ts";
import type { BenchContext } from "../harness/bench.ts";
import { figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { unpauseFloor } from "../harness/floors.ts";
import { startHost } from "../harness/host.ts";
import { summarize } from "../harness/statistics.ts";

/** From the post to the reply in a group whose container is frozen. */
export async function frozenTurn({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const config = { sessions: { freezeSeconds: 0.3 } };
  const { host, client } = stack.use(await startHost({ modelUrl, groups: ["frozen"], config }));
  const unpause = await unpauseFloor(stack);
  const values: number[] = [];
  const hot: number[] = [];
  const floors: number[] = [];
  for (let run = -5; run < (quick ? 10 : 50); run += 1) {
    await untilFrozen(host);
    const frozen = await client.time("frozen", "hello");
    const after = await client.time("frozen", "hello");
    const bare = await unpause();
    if (run < 0) continue;
    values.push(frozen);
    hot.push(after);
    floors.push(bare);
  }
  const most = summarize(hot).median + 3 * summarize(floors).median;
  return [
    figureOf({
      bench: "frozen-turn",
      figure: "post to reply",
      unit: "ms",
      values,
      floor: { name: "unpause", values: floors },
      target: { text: "p50 ≤ hot turn + 3 × unpause", holds: ({ median }) => median <= most },
    }),
    figureOf({ bench: "frozen-turn", figure: "hot turn of the same run", unit: "ms", values: hot }),
  ];
}

async function untilFrozen(host: TestHost): Promise<void> {
  await using engine = await host.openEngine();
  for (;;) {
    const [id] = await host.containers();
    const state = id === undefined ? undefined : (await engine.inspect(id))?.["State"];
    if (state === undefined || (state as { Status: string }).Status === "paused") return;
    await delay(50);
  }
}
