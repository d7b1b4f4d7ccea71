import { ownModule } from "../../../lib/process/own-module.ts";
import { type Launch, ownCode } from "../../../processes/launch.ts";

export interface MediaLaunchOptions {
  /** Files to read. */
  readonly inFolder: string;
  /** The only place that it may write to. */
  readonly outFolder: string;
  /** Memory limit. */
  readonly memoryMb: number;
  /** Maximum size of one file that it writes. */
  readonly outputBytes: number;
  /** The module to run; left out: the process of this program. */
  readonly main?: string | undefined;
  /** Additional readable folders. */
  readonly models?: readonly string[] | undefined;
}

/** The share of its memory that can be objects of JavaScript. */
const heapShare = 0.25;
/** Megabytes that Node and libraries map without using. */
const mappedMb = 1_024;

/**
 * The process that reads files of strangers, without an environment. It reads crabpot's own code and what lies in one
 * folder, and writes to another. Its decoders are machine code, for which Node's permissions do not count: what the
 * kernel keeps from it counts for those too.
 */
export function mediaLaunch(options: MediaLaunchOptions): Launch {
  const { inFolder, outFolder, memoryMb, outputBytes, models = [] } = options;
  const { main = ownModule("media-main", import.meta) } = options;
  return {
    main,
    args: [inFolder, outFolder],
    env: {},
    cwd: "/",
    heap: { mb: Math.floor(memoryMb * heapShare) },
    permissions: {
      // All packages: decoders bring theirs along.
      read: [inFolder, outFolder, ...models, ...ownCode(main, [""]), main],
      write: [outFolder],
      addons: true,
    },
    limits: { files: 128, dataMb: memoryMb + mappedMb, fileBytes: outputBytes },
    confinement: "alone",
  };
}
