import type { BenchContext } from "../harness/bench.ts";
import { openEventSource } from "../../test/support/event-source.ts";
import { atMostFloors, type Figure, figureOf } from "../harness/figure.ts";
import { startHost } from "../harness/host.ts";

const warmUps = 20;

/** Hot turns of two groups of one host in turn: of one, somebody follows events and deltas. */
export async function watchedTurn({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const { host, client } = stack.use(await startHost({ modelUrl, groups: ["watched", "other"] }));
  const source = stack.use(await openEventSource(`${host.url}/v1/events?deltas=1&group=watched`, host.headers));
  const values: number[] = [];
  const floors: number[] = [];
  const firsts: number[] = [];
  for (let run = -warmUps; run < (quick ? 60 : 300); run += 1) {
    const other = await client.time("other", "hello");
    const postedAt = performance.now();
    const [value, first] = await Promise.all([client.time("watched", "hello"), timeOfAnswer(source)]);
    if (run < 0) continue;
    values.push(value);
    floors.push(other);
    firsts.push(first - postedAt);
  }
  const floor = { name: "hot turn that nobody watches", values: floors };
  const names = { bench: "watched-turn", unit: "ms" };
  return [
    figureOf({ ...names, figure: "post to reply", values, floor, target: atMostFloors(1.3) }),
    figureOf({ ...names, figure: "post to first delta of the answer", values: firsts }),
  ];
}

/** When the first piece of the next answer has come. The turn is followed to its end. */
async function timeOfAnswer(source: Awaited<ReturnType<typeof openEventSource>>): Promise<number> {
  await source.until(({ data }) => data["type"] === "answer");
  const at = performance.now();
  await source.until(({ data }) => data["type"] === "over");
  return at;
}
