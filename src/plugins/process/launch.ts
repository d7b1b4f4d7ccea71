import { realpath } from "node:fs/promises";
import { join } from "node:path";

import { ownModule } from "../../lib/process/own-module.ts";
import { proxyVariables } from "../../lib/process/proxy-variables.ts";
import { type Launch, ownCode } from "../../processes/launch.ts";

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface PluginLaunchOptions {
  /** The plugin's own folder. */
  readonly folder: string;
  /** Its module, below that folder. */
  readonly entry: string;
  /** Memory limit. */
  readonly memoryMb: number;
  /** Variables of the host; few of them get to the plugin. */
  readonly variables: EnvironmentVariables;
}

/** Variables for trusting the network and telling the time; none that could hold a key. */
const passedOn = ["NODE_EXTRA_CA_CERTS", "TZ", "LANG"];
const proxies: readonly string[] = proxyVariables;

/** The share of its memory that can be objects of JavaScript. */
const heapShare = 0.75;
/** Megabytes that Node maps without using; it does not start with less. */
const mappedMb = 640;

/** Sizes of the heap of a plugin that may hold so much. */
export function heapOf(memoryMb: number): { readonly mb: number; readonly youngMb: number } {
  return { mb: Math.floor(memoryMb * heapShare), youngMb: 4 };
}

/**
 * The process of a plugin beside the host, as the host's user: it reads its own folder and what of crabpot it needs,
 * writes nothing, and starts no process, no thread and no compiled code.
 */
export async function launchOf({ folder, entry, memoryMb, variables }: PluginLaunchOptions): Promise<Launch> {
  const own = await realpath(folder);
  const main = ownModule("plugin-main", import.meta);
  return {
    main,
    args: [join(own, entry)],
    env: keptVariables(variables, [...passedOn, ...proxies]),
    cwd: own,
    heap: heapOf(memoryMb),
    permissions: { read: [own, ...ownCode(main, ["zod"])] },
    limits: { files: 256, dataMb: memoryMb + mappedMb },
    confinement: "bound",
  };
}

/** Those of the variables that a plugin gets, where they say something. */
export function keptVariables(variables: EnvironmentVariables, names: readonly string[]): Record<string, string> {
  const known = names.flatMap((name): [string, string][] => {
    const value = variables[name];
    // A proxy's password is not the plugin's business.
    const isKey = proxies.includes(name) && value?.includes("@") === true;
    return value === undefined || value === "" || isKey ? [] : [[name, value]];
  });
  return Object.fromEntries(known);
}
