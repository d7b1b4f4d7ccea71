import { join } from "node:path";
import { parseArgs } from "node:util";

import { agentEnvironment, containerPaths, egressProxy, mailboxFolders } from "../../src/protocol/paths.ts";

export interface AgentOptions {
  readonly generation: number;
  readonly toAgent: string;
  readonly toHost: string;
  /** Working folder of commands. */
  readonly workspace: string;
  readonly home: string;
  readonly probe: string;
  /** The program that reads pages. */
  readonly reader: string;
  /** The host's socket that leads out; there in containers that may go out. */
  readonly egressSocket: string;
  /** The image's own paths are used: we are in our container, alone but for what we start. */
  readonly inContainer: boolean;
  /** Interval of rescans where file events do not arrive. */
  readonly rescanMs: number | undefined;
  /** Environment for tools: ours, without the agent's own variables. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Reads the command line `[--mail <dir>] [--workspace <dir>] [--home <dir>] [--probe <path>] [--reader <path>]` and the
 * environment. Throws on anything else.
 */
export function readOptions(parameters: readonly string[], variables: NodeJS.ProcessEnv): AgentOptions {
  const path = { type: "string" } as const;
  const options = { mail: path, workspace: path, home: path, probe: path, reader: path };
  const { values } = parseArgs({ args: [...parameters], options, strict: true });
  const generation = Number(variables[agentEnvironment.generation]);
  if (!Number.isSafeInteger(generation) || generation < 0) {
    throw new Error(`${agentEnvironment.generation} must be the number of the container's generation`);
  }
  const home = values.home ?? containerPaths.home;
  return {
    generation,
    toAgent: values.mail === undefined ? containerPaths.toAgent : join(values.mail, mailboxFolders.toAgent),
    toHost: values.mail === undefined ? containerPaths.toHost : join(values.mail, mailboxFolders.toHost),
    workspace: values.workspace ?? (variables[agentEnvironment.workspace] || containerPaths.group),
    home,
    probe: values.probe ?? containerPaths.probe,
    reader: values.reader ?? containerPaths.reader,
    egressSocket: join(containerPaths.egress, egressProxy.socketName),
    inContainer: Object.keys(values).length === 0,
    rescanMs: Number(variables[agentEnvironment.rescanMs]) || undefined,
    environment: toolEnvironment(variables, home),
  };
}

function toolEnvironment(variables: NodeJS.ProcessEnv, home: string): Record<string, string> {
  const own: readonly string[] = Object.values(agentEnvironment);
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && !own.includes(name)) environment[name] = value;
  }
  return { ...environment, HOME: home };
}
