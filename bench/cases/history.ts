import { join } from "node:path";

import type { TestHost } from "../../test/support/host.ts";
import type { BenchContext } from "../harness/bench.ts";
import { Client } from "../harness/client.ts";
import { atMostFloors, figureOf } from "../harness/figure.ts";
import type { Figure } from "../harness/figure.ts";
import { prepareHost } from "../harness/host.ts";
import { writePast } from "../harness/past.ts";

const warmUps = 20;

/** Two hosts, one whose group has a long past; turns of both in turn. */
export async function history({ quick, modelUrl }: BenchContext): Promise<Figure[]> {
  const messages = quick ? 20_000 : 100_000;
  await using stack = new AsyncDisposableStack();
  const [old, young] = [await openHost(stack, modelUrl, messages), await openHost(stack, modelUrl, 0)];
  const values: number[] = [];
  const floors: number[] = [];
  for (let run = -warmUps; run < (quick ? 40 : 300); run += 1) {
    const [one, other] = [await old.time("old", "hello"), await young.time("old", "hello")];
    if (run < 0) continue;
    values.push(one);
    floors.push(other);
  }
  return [
    figureOf({
      bench: "history",
      figure: `hot turn with ${messages} messages`,
      unit: "ms",
      values,
      floor: { name: "hot turn in an empty group", values: floors },
      target: atMostFloors(1.2),
    }),
  ];
}

async function openHost(stack: AsyncDisposableStack, modelUrl: string, messages: number): Promise<Client> {
  const host = stack.use(await prepareHost({ modelUrl, groups: ["old"] }));
  if (messages > 0) await givePast(host, messages);
  await host.boot();
  const client = stack.use(new Client(host));
  await client.time("old", "hello");
  return client;
}

/** The session is the host's own to make. */
async function givePast(host: TestHost, messages: number): Promise<void> {
  await host.boot();
  {
    await using client = new Client(host);
    await client.time("old", "hello");
  }
  await host.end("SIGTERM");
  writePast(join(host.home, "crabpot.sqlite"), "old", messages);
}
