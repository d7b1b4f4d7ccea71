import { agentNamedBy, groupOfFolder } from "../../domain/chats/group.ts";

/**
 * Which memory it is, as options of `crabpot memory`: one that is called `group@agent` is that of an agent beside the
 * group's first one.
 */
export function memoryOptions(folder: string): string {
  const { agent } = agentNamedBy(folder);
  const group = `--group ${groupOfFolder(folder)}`;
  return agent === undefined ? group : `${group} --agent ${agent}`;
}
