import * as z from "zod";

import { AppError, toError } from "../../../lib/app-error.ts";
import { readLines } from "../../../lib/process/read-lines.ts";
import { checkMemory } from "../file/check-memory.ts";
import type { GroupMemory } from "../group-memory.ts";
import { longestLine, memoryFields, parseMemoryLine, toNewMemory } from "./memory-lines.ts";
import type { NewMemory } from "../../../processes/memory-schemas.ts";

const exported = z.strictObject({ ...memoryFields, supersededBy: z.string().min(1).max(256).optional() });

/**
 * Reads what `memory export` wrote and gives how many there were. Throws AppError `bad_input` at the first line that
 * cannot be read; those before it are kept, and importing again replaces them.
 */
export async function importLines(memory: GroupMemory, input: AsyncIterable<Buffer | string>): Promise<number> {
  let number = 0;
  let imported = 0;
  const superseded: (readonly [string, string])[] = [];
  for await (const lines of readLines(input, longestLine)) {
    const batch: Line[] = [];
    let fault: AppError | undefined;
    for (const line of lines) {
      number += 1;
      const read = line.trim() === "" ? undefined : readLine(line);
      if (typeof read === "string") {
        fault = new AppError("bad_input", `Line ${number}: ${read}`, {
          fix: `fix the line and import again; the ${imported + batch.length} memories before it are kept`,
        });
        break;
      }
      if (read !== undefined) batch.push(read);
    }
    memory.add(batch.map(({ one }) => one));
    imported += batch.length;
    superseded.push(...batch.flatMap(({ one, by }) => (by === undefined ? [] : [[one.id, by] as const])));
    if (fault !== undefined) throw fault;
  }
  for (const [id, by] of superseded) memory.supersede(id, by);
  return imported;
}

interface Line {
  readonly one: NewMemory;
  /** The memory that superseded it. */
  readonly by: string | undefined;
}

/** Parses a line; returns the fault of an unreadable one. */
function readLine(line: string): Line | string {
  try {
    const { supersededBy, ...written } = parseMemoryLine(line, exported);
    const one = toNewMemory(written);
    checkMemory(one);
    return { one, by: supersededBy };
  } catch (thrown) {
    return toError(thrown).message;
  }
}
