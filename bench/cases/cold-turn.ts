import type { BenchContext } from "../harness/bench.ts";
import { atMostFloors, figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { containerFloor } from "../harness/floors.ts";
import { startHost } from "../harness/host.ts";

/** From the post to the reply in a group that has no container. */
export async function coldTurn({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const { host, client } = stack.use(await startHost({ modelUrl, groups: ["cold"] }));
  const floor = await containerFloor(stack);
  const values: number[] = [];
  const floors: number[] = [];
  for (let run = -1; run < (quick ? 5 : 25); run += 1) {
    const [value, bare] = [await client.time("cold", "hello"), await floor()];
    await host.cli("sessions", "stop", "cold");
    if (run < 0) continue;
    values.push(value);
    floors.push(bare);
  }
  return [
    figureOf({
      bench: "cold-turn",
      figure: "post to reply",
      unit: "ms",
      values,
      floor: { name: "create + start + first byte", values: floors },
      target: atMostFloors(1.8),
    }),
  ];
}
