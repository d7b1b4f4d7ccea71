import { join } from "node:path";

import { agentNamedBy, groupOfFolder } from "../../domain/chats/group.ts";

const ending = ".sqlite";

/** Path of a memory, by the name of a group, an agent's folder, or global notes. */
export function memoryPath(folder: string, name: string): string {
  return join(folder, `${name}${ending}`);
}

/** Name of the memory in this file; undefined when it is none. */
export function memoryOfFile(file: string): string | undefined {
  return file.endsWith(ending) ? file.slice(0, -ending.length) : undefined;
}

/**
 * Which memory it is, as options of `crabpot memory`: one that is called `group@agent` is that of an agent beside the
 * group's first one.
 */
export function memoryOptions(folder: string): string {
  const { agent } = agentNamedBy(folder);
  const group = `--group ${groupOfFolder(folder)}`;
  return agent === undefined ? group : `${group} --agent ${agent}`;
}
