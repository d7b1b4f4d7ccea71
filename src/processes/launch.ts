import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

/** A process of ours: what is run, and what it may do. */
export interface Launch {
  /** The module to run. */
  readonly main: string;
  readonly args?: readonly string[] | undefined;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Maximum size of its JavaScript heap, and of its part for young objects. */
  readonly heap?: { readonly mb: number; readonly youngMb?: number | undefined } | undefined;
  /** Left out: Node's permissions are off. */
  readonly permissions?: Permissions | undefined;
  /** Left out: those of the host. */
  readonly limits?: SystemLimits | undefined;
  readonly confinement?: Confinement | undefined;
}

/** Turns Node's permissions on: no other process, thread, file or machine code than these. */
export interface Permissions {
  readonly read: readonly string[];
  readonly write?: readonly string[] | undefined;
  readonly addons?: boolean | undefined;
}

/** Limits that the kernel holds it to. */
export interface SystemLimits {
  readonly files: number;
  /** Memory for data, with what Node maps and hardly uses. */
  readonly dataMb: number;
  /** Size of one file that it writes. */
  readonly fileBytes?: number | undefined;
}

/**
 * `bound`: it ends with the host and gains no rights. `alone`: besides, no network and no capabilities, where the
 * system lets its users.
 */
type Confinement = "bound" | "alone";

/** The command line of a process. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

const blockBytes = 512;
const [unshare, setpriv] = ["/usr/bin/unshare", "/usr/bin/setpriv"];

/** Works out the command line of a process. */
export function commandOf(launch: Launch): Command {
  const { main, args = [], env, cwd, limits } = launch;
  const node = [process.execPath, ...nodeOptions(launch), main, ...args];
  const [program = "", ...rest] = limits ? ["/bin/sh", "-c", script(launch, limits), "sh", ...node] : node;
  return { program, args: rest, env, cwd };
}

/**
 * Options of Node by which a process does no more than these. Its database opens files that permissions know nothing
 * of, so there is none.
 */
export function nodeOptions({ permissions, heap }: Pick<Launch, "permissions" | "heap">): string[] {
  if (!permissions) return [];
  const { read, write = [], addons = false } = permissions;
  return [
    "--permission",
    "--no-experimental-sqlite",
    ...(addons ? ["--allow-addons"] : []),
    ...read.map((path) => `--allow-fs-read=${path}`),
    ...write.map((path) => `--allow-fs-write=${path}`),
    ...(heap ? [`--max-old-space-size=${heap.mb}`] : []),
    ...(heap?.youngMb === undefined ? [] : [`--max-semi-space-size=${heap.youngMb}`]),
    "--no-warnings",
  ];
}

function script({ confinement }: Launch, { files, dataMb, fileBytes }: SystemLimits): string {
  const limits = [
    "ulimit -c 0",
    `ulimit -n ${files}`,
    ...(fileBytes === undefined ? [] : [`ulimit -f ${Math.ceil(fileBytes / blockBytes)}`]),
    `ulimit -d ${dataMb * 1024} 2>/dev/null`,
  ];
  return [...limits, ...confinements(confinement).map(tryOut), `exec "$@"`].join("; ");
}

const bound = `${setpriv} --no-new-privs --pdeathsig KILL`;
const alone = `${unshare} --user --map-current-user --net --ipc ${bound} --bounding-set=-all --inh-caps=-all`;

/** True where this system lets a process of its user be `alone`; otherwise one that is to be is only `bound`. */
export async function canBeAlone(): Promise<boolean> {
  const tried = promisify(execFile)("/bin/sh", ["-c", `exec ${alone} /bin/true`]);
  return tried.then(
    () => true,
    () => false,
  );
}

/** The strictest first; what a system does not allow its users is passed over. */
function confinements(wanted: Confinement | undefined): readonly string[] {
  if (wanted === undefined || !existsSync(setpriv)) return [];
  return [...(wanted === "alone" && existsSync(unshare) ? [alone] : []), bound];
}

function tryOut(words: string): string {
  return `${words} /bin/true 2>/dev/null && exec ${words} "$@"`;
}

const checkout = resolve(import.meta.dirname, "../..");

/**
 * Paths that a process of ours reads of crabpot itself: the sources and some packages, or the program that set-up
 * built.
 */
export function ownCode(main: string, packages: readonly string[]): string[] {
  if (main.endsWith(".ts"))
    return ["src", "package.json", ...packages.map((name) => join("node_modules", name))].map((path) =>
      join(checkout, path),
    );
  return [dirname(main), ...packages.map((name) => resolve(dirname(main), "../../node_modules", name))];
}
