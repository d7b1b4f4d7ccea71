import * as z from "zod";

import { toError } from "../../../lib/app-error.ts";
import { readLines } from "../../../lib/process/read-lines.ts";
import { checkMemory } from "../file/check-memory.ts";
import type { GroupMemory } from "../group-memory.ts";
import { longestLine, memoryFields, parseMemoryLine, toNewMemory } from "./memory-lines.ts";
import type { NewMemory } from "../../../processes/memory-schemas.ts";

const mostResults = 1000;

const order = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("add"), ...memoryFields }),
  z.strictObject({
    op: z.literal("search"),
    query: z.string(),
    limit: z.number().int().min(1).max(mostResults).default(10),
    tokens: z.number().int().min(1).optional(),
  }),
  z.strictObject({ op: z.literal("flush") }),
  z.strictObject({ op: z.literal("reset") }),
]);

type Order = z.output<typeof order>;

/** An answer that is due, and the memory that has to be stored before it is given. */
interface Due {
  readonly answer: object;
  readonly memory?: NewMemory;
}

/**
 * Orders as lines of JSON, answered line by line in their order. What is answered with ok is stored. Additions that
 * arrive together are stored together: each transaction waits for the disk.
 */
export async function runPipe(
  memory: GroupMemory,
  input: AsyncIterable<Buffer | string>,
  answer: (answer: object) => void,
): Promise<void> {
  for await (const lines of readLines(input, longestLine)) {
    const due: Due[] = [];
    for (const line of lines) {
      if (line.trim() === "") continue;
      const next = read(line);
      if ("answer" in next) {
        due.push(next);
        continue;
      }
      settle(memory, due.splice(0), answer);
      answer(await carryOut(memory, next));
    }
    settle(memory, due, answer);
  }
}

function read(line: string): Due | Exclude<Order, { op: "add" }> {
  try {
    const parsed = parseMemoryLine(line, order);
    if (parsed.op !== "add") return parsed;
    const { op: _op, ...written } = parsed;
    const memory = toNewMemory(written);
    checkMemory(memory);
    return { answer: { ok: true }, memory };
  } catch (thrown) {
    return { answer: { error: toError(thrown).message } };
  }
}

function settle(memory: GroupMemory, due: readonly Due[], answer: (answer: object) => void): void {
  const added = due.flatMap((one) => one.memory ?? []);
  let failure: string | undefined;
  try {
    if (added.length > 0) memory.add(added);
  } catch (thrown) {
    failure = toError(thrown).message;
  }
  for (const one of due) answer(one.memory !== undefined && failure !== undefined ? { error: failure } : one.answer);
}

async function carryOut(memory: GroupMemory, asked: Exclude<Order, { op: "add" }>): Promise<object> {
  try {
    if (asked.op === "search") {
      const { query, limit, tokens } = asked;
      const found = await memory.search(query, { limit, tokens });
      return {
        results: found.map(({ memory: { id, text, time, sender }, score }) => ({
          id,
          score,
          text,
          time: new Date(time).toISOString(),
          sender,
        })),
      };
    }
    if (asked.op === "reset") memory.reset();
    else await memory.flush();
    return { ok: true };
  } catch (thrown) {
    return { error: toError(thrown).message };
  }
}
