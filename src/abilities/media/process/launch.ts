import { existsSync } from "node:fs";
import { extname, join, resolve } from "node:path";

export interface MediaLaunchOptions {
  /** Files to read. */
  readonly inFolder: string;
  /** The only place that it may write to. */
  readonly outFolder: string;
  /** What it may hold. */
  readonly memoryMb: number;
  /** Of one file that it writes. */
  readonly outputBytes: number;
  /** What is run; left out: the process of this program. */
  readonly main?: string | undefined;
  /** Folders that it may read besides. */
  readonly models?: readonly string[] | undefined;
}

export interface MediaLaunch {
  readonly program: string;
  readonly args: readonly string[];
}

/** Of what it may hold, how much can be objects of JavaScript. */
const heapShare = 0.25;
/** What Node and the libraries map and hardly use. */
const mappedMb = 1_024;
const blockBytes = 512;
const [unshare, setpriv] = ["/usr/bin/unshare", "/usr/bin/setpriv"];

/**
 * The command line of the process that reads files of strangers: Node with its permissions on, with no environment. It
 * reads crabpot's own code and what lies in one folder, and writes to another. Where the system lets it, it has no
 * network, no capabilities and cannot gain any, and it ends with the host in any case. Its decoders are machine code,
 * for which Node's permissions do not count: what the kernel keeps from it counts for those too.
 */
export function mediaLaunch(options: MediaLaunchOptions): MediaLaunch {
  const { inFolder, outFolder, memoryMb, outputBytes, models = [] } = options;
  const extension = extname(import.meta.filename);
  const main = options.main ?? join(import.meta.dirname, `media-main${extension}`);
  const node = [
    process.execPath,
    "--permission",
    "--allow-addons",
    ...[inFolder, outFolder, ...models, ...crabpotFolders(extension), main].map((each) => `--allow-fs-read=${each}`),
    `--allow-fs-write=${outFolder}`,
    `--max-old-space-size=${Math.floor(memoryMb * heapShare)}`,
    "--no-warnings",
    main,
    inFolder,
    outFolder,
  ];
  const limits = [
    "ulimit -c 0",
    "ulimit -n 128",
    `ulimit -f ${Math.ceil(outputBytes / blockBytes)}`,
    `ulimit -d ${(memoryMb + mappedMb) * 1024} 2>/dev/null`,
  ];
  const script = [...limits, ...confinements().map(tryOut), `exec "$@"`].join("; ");
  return { program: "/bin/sh", args: ["-c", script, "sh", ...node] };
}

/** The strictest first; what a system does not allow its users is passed over. */
function confinements(): readonly string[] {
  if (!existsSync(setpriv)) return [];
  const bound = `${setpriv} --no-new-privs --pdeathsig KILL`;
  const alone = `${unshare} --user --map-current-user --net --ipc`;
  return [...(existsSync(unshare) ? [`${alone} ${bound} --bounding-set=-all --inh-caps=-all`] : []), bound];
}

function tryOut(words: string): string {
  return `${words} /bin/true 2>/dev/null && exec ${words} "$@"`;
}

/** What the process loads of crabpot: in the sources their folder, otherwise that of the program; and the packages. */
function crabpotFolders(extension: string): string[] {
  if (extension !== ".ts") return [import.meta.dirname, resolve(import.meta.dirname, "../../node_modules")];
  const checkout = resolve(import.meta.dirname, "../../../..");
  return [join(checkout, "src"), join(checkout, "node_modules"), join(checkout, "package.json")];
}
