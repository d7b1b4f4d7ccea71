import { existsSync } from "node:fs";

import { AppError } from "../../../../lib/app-error.ts";
import { ownCommand } from "../../../../lib/process/own-command.ts";
import { faultOfFile, repairFile, type Salvaged } from "../../../../abilities/memory/file/repair.ts";
import { memoryOptions } from "../../../../abilities/memory/memory-path.ts";
import type { CommandContext } from "../../context.ts";
import { isWithoutHost } from "../../../../lib/process/control-socket.ts";
import { pathOfMemory } from "./open-memory.ts";
import { readStatus } from "../../../../operations/host/operations.ts";

/**
 * Makes a memory whose file is damaged usable again; undefined where nothing is wrong with it. Throws AppError while a
 * host runs.
 */
export async function repairIfDamaged(context: CommandContext, group: string): Promise<Salvaged | undefined> {
  const path = pathOfMemory(context, group);
  if (!existsSync(path)) return undefined;
  const fault = faultOfFile(path);
  if (fault === undefined) return undefined;
  if (await isHostRunning(context))
    throw new AppError(
      "store_failed",
      `The memory ${path} is damaged (${fault}) and cannot be repaired while a host runs.`,
      {
        fix: `stop the host, then run ${ownCommand(`memory reindex ${memoryOptions(group)}`)}`,
      },
    );
  return repairFile(path);
}

/** In a sentence or three. */
export function describeRepair({ items, isFromStart, aside }: Salvaged): string {
  const again = isFromStart
    ? " Messages of the group are taken in again at the next start, including ones forgotten individually."
    : "";
  return `The file was damaged: ${items} readable memories are kept.${again} The damaged file is ${aside}; delete it when you no longer need it.`;
}

async function isHostRunning(context: CommandContext): Promise<boolean> {
  try {
    await context.call(readStatus, {});
    return true;
  } catch (error) {
    if (isWithoutHost(error)) return false;
    throw error;
  }
}
