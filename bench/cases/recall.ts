import { join } from "node:path";

import { isModelInstalled, LocalEmbedder } from "../../src/abilities/memory/embedding/local-embedder.ts";
import { modelFolder } from "../../src/abilities/memory/embedding/model-files.ts";
import { GroupMemory } from "../../src/abilities/memory/group-memory.ts";
import { cachedModelFolder, linkModel } from "../../test/support/cached-model.ts";
import type { BenchContext } from "../harness/bench.ts";
import { Client } from "../harness/client.ts";
import { atMostFloors, type Figure, figureOf } from "../harness/figure.ts";
import { prepareHost } from "../harness/host.ts";

const warmUps = 20;
const memories = 2_000;
const topics = "garden boat piano recipe train budget kitten mountain wedding printer".split(" ");
const weights = { vector: 0.5, text: 0.5, neighbour: 0.3 };

/** Two hosts, one whose group remembers 2,000 things and is told what fits; turns of both in turn. */
export async function recall(context: BenchContext): Promise<Figure[]> {
  const figures = [await compare(context, "none")];
  if (await isModelInstalled(cachedModelFolder())) figures.push(await compare(context, "local"));
  else context.say("recall: the local model is missing; npm run test:model fetches it");
  return figures;
}

async function compare({ quick, modelUrl }: BenchContext, embeddings: "none" | "local"): Promise<Figure> {
  await using stack = new AsyncDisposableStack();
  const knowing = await openHost(stack, modelUrl, { enabled: true, embeddings, extract: { everyMessages: 0 } });
  const plain = await openHost(stack, modelUrl, undefined);
  const values: number[] = [];
  const floors: number[] = [];
  for (let run = -warmUps; run < (quick ? 60 : 300); run += 1) {
    const said = `what was it about the ${topics[Math.abs(run) % topics.length]}, number ${run}?`;
    const [one, other] = [await knowing.time("hot", said), await plain.time("hot", said)];
    if (run < 0) continue;
    values.push(one);
    floors.push(other);
  }
  return figureOf({
    bench: "recall",
    figure: `hot turn with memories, ${embeddings}`,
    unit: "ms",
    values,
    floor: { name: "hot turn without", values: floors },
    target: atMostFloors(1.2),
  });
}

async function openHost(stack: AsyncDisposableStack, modelUrl: string, memory: object | undefined): Promise<Client> {
  const config = memory === undefined ? {} : { memory };
  const host = stack.use(await prepareHost({ modelUrl, groups: ["hot"], config }));
  if (memory !== undefined) await fill(host.home, "embeddings" in memory && memory.embeddings === "local");
  await host.boot();
  return stack.use(new Client(host));
}

async function fill(home: string, isLocal: boolean): Promise<void> {
  const folder = modelFolder(home);
  if (isLocal) await linkModel(folder);
  await using embedder = isLocal ? new LocalEmbedder(folder) : undefined;
  await using memory = new GroupMemory({ path: join(home, "memory", "hot.sqlite"), weights, embedder });
  const said = { category: "conversation", sender: "Ann", origin: "member", sources: [] } as const;
  const begun = Date.now() - 100 * 86_400_000;
  memory.add(
    Array.from({ length: memories }, (_, at) => ({
      ...said,
      id: `m${at}`,
      text: `the ${topics[at % topics.length]} was number ${at}, and nobody minded`,
      time: begun + at * 60_000,
    })),
  );
  await memory.flush();
}
