/** Which memory it is, as options of `crabpot memory`: one that is called `group@agent` is that of an agent beside the group's first one. */
export function memoryOptions(folder: string): string {
  const [group = folder, agent] = folder.split("@", 2);
  return agent === undefined ? `--group ${group}` : `--group ${group} --agent ${agent}`;
}
