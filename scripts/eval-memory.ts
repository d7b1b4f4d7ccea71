import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

import type { Embedder } from "../src/abilities/memory/embedding/embedder.ts";
import { isModelInstalled, LocalEmbedder } from "../src/abilities/memory/embedding/local-embedder.ts";
import { modelFolder } from "../src/abilities/memory/embedding/model-files.ts";
import { VectorCache } from "../src/abilities/memory/embedding/vector-cache.ts";
import { GroupMemory } from "../src/abilities/memory/group-memory.ts";
import { readEnvironment } from "../src/config/environment.ts";
import { temporaryFolder } from "../test/support/temporary-folder.ts";
import { type Conversation, readLines, readLocomo, readMemDaily } from "./steps/memory-data.ts";

/*
 * Measures recall: the share of a question's evidence among the first 5 and 10 memories found.
 *
 *     npm run eval:memory -- --data FOLDER [--split test|tuning|all] [--embeddings none|local|both] [--pool 1]
 *
 * FOLDER holds locomo10.json, files of MemDaily (01_simple_events.json …), or *.jsonl with a conversation per line:
 *
 *     {"name","memories":[{"id","sender","time","text"}],"questions":[{"query","evidence":["id"]}]}
 *
 * `--pool` merges this number of conversations into one memory, which is harder.
 */

const word = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    data: word,
    split: { ...word, default: "test" },
    embeddings: { ...word, default: "both" },
    pool: { ...word, default: "1" },
    weights: { ...word, default: "0.5,0.5,0.3" },
  },
  strict: true,
});

interface Figures {
  questions: number;
  at5: number;
  at10: number;
}

const [vector = 0.5, text = 0.5, neighbour = 0.3] = values.weights.split(",").map(Number);
const cache = new VectorCache(1_000_000);

async function readSets(folder: string): Promise<Map<string, Conversation[]>> {
  const sets = new Map<string, Conversation[]>();
  for (const name of (await readdir(folder)).toSorted()) {
    const read = /^locomo.*\.json$/.test(name)
      ? readLocomo
      : /^0\d_.*\.json$/.test(name)
        ? readMemDaily
        : name.endsWith(".jsonl")
          ? readLines
          : undefined;
    if (read === undefined) continue;
    const set = read === readMemDaily ? "memdaily" : name;
    const found = read(await readFile(join(folder, name), "utf8"), name);
    const chosen = found.filter(({ split }) => values.split === "all" || split === undefined || split === values.split);
    sets.set(set, [...(sets.get(set) ?? []), ...chosen]);
  }
  return sets;
}

function own(member: number, id: string): string {
  return `${member}/${id}`;
}

/** Several conversations in one memory; ids stay apart. */
function pooled(conversations: readonly Conversation[], size: number): Conversation[] {
  const pools: Conversation[] = [];
  for (let at = 0; at < conversations.length; at += size) {
    const members = conversations.slice(at, at + size);
    pools.push({
      name: members.map(({ name }) => name).join("+"),
      split: members[0]?.split,
      memories: members.flatMap(({ memories }, member) => memories.map((one) => ({ ...one, id: own(member, one.id) }))),
      questions: members.flatMap(({ questions }, member) =>
        questions.map((one) => ({ ...one, evidence: one.evidence.map((id) => own(member, id)) })),
      ),
    });
  }
  return pools;
}

async function measure(conversation: Conversation, embedder: Embedder | undefined): Promise<Map<string, Figures>> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "group.sqlite");
  await using memory = new GroupMemory({ path, weights: { vector, text, neighbour }, embedder, cache });
  memory.add(conversation.memories);
  await memory.flush();
  const kinds = new Map<string, Figures>();
  for (const { query, evidence, kind } of conversation.questions) {
    const found = (await memory.search(query, { limit: 10 })).map((one) => one.memory.id);
    const share = (count: number): number =>
      evidence.filter((id) => found.slice(0, count).includes(id)).length / evidence.length;
    for (const name of ["all", kind]) {
      const figures = kinds.get(name) ?? { questions: 0, at5: 0, at10: 0 };
      figures.questions += 1;
      figures.at5 += share(5);
      figures.at10 += share(10);
      kinds.set(name, figures);
    }
  }
  return kinds;
}

function percent(sum: number, count: number): string {
  return ((100 * sum) / count).toFixed(1).padStart(6);
}

async function report(
  set: string,
  conversations: readonly Conversation[],
  embedder: Embedder | undefined,
): Promise<void> {
  const sums = new Map<string, Figures>();
  for (const conversation of pooled(conversations, Number(values.pool))) {
    for (const [kind, { questions, at5, at10 }] of await measure(conversation, embedder)) {
      const sum = sums.get(kind) ?? { questions: 0, at5: 0, at10: 0 };
      sums.set(kind, { questions: sum.questions + questions, at5: sum.at5 + at5, at10: sum.at10 + at10 });
    }
  }
  for (const [kind, { questions, at5, at10 }] of [...sums].toSorted(([one], [other]) => one.localeCompare(other))) {
    const line = [set, embedder === undefined ? "none" : "local", kind, String(questions)];
    process.stdout.write(`${line.join("\t")}\t${percent(at5, questions)}\t${percent(at10, questions)}\n`);
  }
}

if (values.data === undefined) throw new Error("Say where the data is: npm run eval:memory -- --data FOLDER");
const folder = modelFolder(readEnvironment().crabpotHome);
const embedders: (Embedder | undefined)[] = values.embeddings === "local" ? [] : [undefined];
await using local = new LocalEmbedder(folder);
if (values.embeddings !== "none") {
  if (!(await isModelInstalled(folder))) throw new Error("The model is not installed: crabpot memory install-model");
  embedders.push(local);
}
process.stdout.write("set\tembeddings\tkind\tquestions\tR@5\tR@10\n");
for (const [set, conversations] of await readSets(values.data)) {
  for (const embedder of embedders) await report(set, conversations, embedder);
}
