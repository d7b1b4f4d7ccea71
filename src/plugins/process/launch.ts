import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { extname, join, resolve } from "node:path";

import { proxyVariables } from "../../lib/process/proxy-variables.ts";

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface LaunchOptions {
  /** The plugin's own folder. */
  readonly folder: string;
  /** Its module, below that folder. */
  readonly entry: string;
  /** What it may hold. */
  readonly memoryMb: number;
  /** Of the host: little of it gets to the plugin. */
  readonly variables: EnvironmentVariables;
}

export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/**
 * How to reach the network and what to trust there; no variable of the host's that could hold a key gets to a plugin.
 */
const passedOn = ["NODE_EXTRA_CA_CERTS", "TZ", "LANG"];
const proxies: readonly string[] = proxyVariables;

/** Of what it may hold, how much can be objects of JavaScript. */
const heapShare = 0.75;
/** What Node maps for itself and hardly uses; with less it does not start. */
const mappedMb = 640;

/** Where util-linux lies: with it a plugin ends with the host in any case, and can gain no rights. */
const setpriv = "/usr/bin/setpriv";

/**
 * The command line of a plugin's process: Node with its permissions on, so that it reads its own folder and what of
 * crabpot it needs, writes nothing, and starts no process, no thread and no compiled code.
 */
export async function launchOf({ folder, entry, memoryMb, variables }: LaunchOptions): Promise<Launch> {
  const own = await realpath(folder);
  const extension = extname(import.meta.filename);
  const main = join(import.meta.dirname, `plugin-main${extension}`);
  const heapMb = Math.floor(memoryMb * heapShare);
  const node = [
    process.execPath,
    "--permission",
    ...[own, ...crabpotFolders(extension)].map((each) => `--allow-fs-read=${each}`),
    `--max-old-space-size=${heapMb}`,
    "--max-semi-space-size=4",
    "--no-warnings",
    main,
    join(own, entry),
  ];
  const dataKb = (memoryMb + mappedMb) * 1024;
  const limits = `ulimit -c 0; ulimit -n 256; ulimit -d ${dataKb} 2>/dev/null; exec "$@"`;
  const bound = existsSync(setpriv) ? [setpriv, "--no-new-privs", "--pdeathsig", "KILL"] : [];
  const args = ["-c", limits, "sh", ...bound, ...node];
  return { program: "/bin/sh", args, env: environmentOf(variables), cwd: own };
}

/** What the process loads of crabpot: in the sources their folder, otherwise that of the program. */
function crabpotFolders(extension: string): string[] {
  if (extension !== ".ts") return [import.meta.dirname];
  const checkout = resolve(import.meta.dirname, "../../..");
  return [join(checkout, "src"), join(checkout, "node_modules/zod"), join(checkout, "package.json")];
}

function environmentOf(variables: EnvironmentVariables): Record<string, string> {
  const known = [...passedOn, ...proxies].flatMap((name): [string, string][] => {
    const value = variables[name];
    // A proxy's password is not the plugin's business.
    const isKey = proxies.includes(name) && value?.includes("@") === true;
    return value === undefined || value === "" || isKey ? [] : [[name, value]];
  });
  return Object.fromEntries(known);
}
