import { setTimeout as delay } from "node:timers/promises";

import type { BenchContext } from "../harness/bench.ts";
import { atMostFloors, figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { mailboxFloor } from "../harness/floors.ts";
import { startHost } from "../harness/host.ts";

const warmUps = 30;
const settleMs = 20;

/** From the post to the reply, without a tool, in a group whose container is hot. */
export async function hotTurn(context: BenchContext): Promise<Figure[]> {
  const { values, floors } = await timeTurns(context, "hello");
  const floor = { name: "mailbox round trip", values: floors };
  const whole = { bench: "hot-turn", unit: "ms", values };
  const target = {
    text: "p99 ≤ 5 × p50",
    holds: (seen: { p99: number; median: number }) => seen.p99 <= 5 * seen.median,
  };
  return [
    figureOf({ ...whole, figure: "post to reply", floor, target: atMostFloors(12) }),
    figureOf({ ...whole, figure: "post to reply, tail", target }),
  ];
}

/** The same with one call of the shell. */
export async function toolTurn(context: BenchContext): Promise<Figure[]> {
  const { values, floors } = await timeTurns(context, "run: true");
  const floor = { name: "mailbox round trip", values: floors };
  return [figureOf({ bench: "tool-turn", figure: "post to reply", unit: "ms", values, floor })];
}

async function timeTurns(
  { quick, modelUrl }: BenchContext,
  said: string,
): Promise<{ readonly values: number[]; readonly floors: number[] }> {
  await using stack = new AsyncDisposableStack();
  const { client } = stack.use(await startHost({ modelUrl, groups: ["hot"] }));
  const floor = await mailboxFloor(stack);
  const values: number[] = [];
  const floors: number[] = [];
  for (let run = -warmUps; run < (quick ? 50 : 300); run += 1) {
    const value = await client.time("hot", said);
    // What the turn left to be done would make the floor higher than it is.
    await delay(settleMs);
    const plain = await floor();
    if (run < 0) continue;
    values.push(value);
    floors.push(plain);
  }
  return { values, floors };
}
