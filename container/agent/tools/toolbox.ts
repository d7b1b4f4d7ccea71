import { realpath } from "node:fs/promises";

import { limits } from "../../../src/protocol/limits.ts";
import type { AllowedRun } from "../../../src/protocol/messages.ts";
import { containerPaths } from "../../../src/protocol/paths.ts";
import { isSecretPath } from "../../../src/protocol/secret-names.ts";
import { timedOut, ToolError, toToolOutput } from "../../../src/protocol/tools.ts";
import type { AnnouncedTool, ToolOutput } from "../../../src/protocol/tools.ts";
import type { ReadPage } from "../page-reading.ts";
import { fitToolOutput } from "../text.ts";
import { toError } from "../to-error.ts";
import type { HostOutput } from "../loops/agent-loop.ts";
import { resolvePath } from "./paths.ts";
import { isForModel } from "./tool.ts";
import type { ToolEnvironment, ContainerTool, ContainerToolOutput } from "./tool.ts";

/** Last limit: tools cut their output themselves, and say what is missing. */
const maxOutputChars = limits.toolOutputChars + 1_500;
/** A tool that has not ended this long after its time was over is left to itself. */
const endMs = 2_000;

/** One call, as its turn sees it. */
export interface CallContext {
  /** Aborted when the turn is cancelled. */
  readonly signal: AbortSignal;
  /** See `CallEnvironment`. */
  readonly approved?: AllowedRun | undefined;
  /** Lets the host run the tool. */
  readonly askHost: (name: string, input: unknown) => Promise<HostOutput>;
  /** See `CallPlace`. */
  readonly show?: ((chunk: Uint8Array) => void) | undefined;
}

/** A tool of a turn, for any input. `run` never rejects. */
export interface RunnableTool {
  readonly readsOnly: boolean;
  run(input: unknown, context: CallContext): Promise<ContainerToolOutput>;
}

interface ToolboxOptions {
  readonly tools: readonly ContainerTool[];
  readonly place: ToolEnvironment;
  readonly readPage: ReadPage;
  /** Log for bugs. */
  readonly log: (text: string) => void;
}

const howToShow =
  "read_file with its full path asks people for it; the operator can uncover all of the mount with secrets: show.";

/** Returns the path of a failure at a file that looks like a secret and cannot be touched. */
function coveredPath(error: unknown): string | undefined {
  const { code = "", path = "", dest = "" } = error as NodeJS.ErrnoException & { readonly dest?: string };
  if (!["EACCES", "EROFS", "EBUSY", "EPERM", "EXDEV"].includes(code)) return undefined;
  return [path, dest].find((one) => one.startsWith(`${containerPaths.extra}/`) && isSecretPath(one));
}

/** Makes what the host announces runnable: tools of the container are here, all others are the host's. */
export class Toolbox {
  readonly #tools: ReadonlyMap<string, ContainerTool>;
  readonly #options: ToolboxOptions;

  constructor(options: ToolboxOptions) {
    this.#tools = new Map(options.tools.map((tool) => [tool.name, tool]));
    this.#options = options;
  }

  toolFor(announced: AnnouncedTool): RunnableTool {
    if (announced.runs === "host") return this.#safely(announced.name, false, this.#forwarded(announced));
    const tool = this.#tools.get(announced.name);
    if (tool) return this.#safely(tool.name, tool.readsOnly, this.#withCovered(tool, announced.timeoutSeconds));
    const missing = `This container has no tool ${announced.name}.`;
    return { readsOnly: true, run: () => Promise.resolve({ output: missing, isError: true }) };
  }

  /** Puts the cap on the output and the catching of errors around a tool. */
  #safely(name: string, readsOnly: boolean, run: RunnableTool["run"]): RunnableTool {
    return {
      readsOnly,
      run: async (input, context) => {
        try {
          const result = await run(input, context);
          return { ...result, output: fitToolOutput(result.output, maxOutputChars) };
        } catch (thrown) {
          return { output: fitToolOutput(this.#wordsFor(name, toError(thrown), context)), isError: true };
        }
      },
    };
  }

  #wordsFor(name: string, error: Error, { signal }: CallContext): string {
    if (error instanceof ToolError) return error.message;
    if (isForModel(error)) return `${name} failed: ${error.message}`;
    if (!signal.aborted) this.#options.log(`the tool ${name} failed: ${error.stack ?? error.message}`);
    return signal.aborted ? `${name} was cancelled.` : `${name} failed.`;
  }

  /** Asks the host for a file that is covered here, when it is read; says of others that they are. */
  #withCovered(tool: ContainerTool, timeoutSeconds: number): RunnableTool["run"] {
    const run = this.#limited(tool, timeoutSeconds);
    return async (input, context) => {
      try {
        return await run(input, context);
      } catch (error) {
        const path = coveredPath(error);
        if (path === undefined) throw error;
        if (tool.name === "read_file") return this.#shown(await context.askHost(tool.name, { path }), context.signal);
        throw new ToolError(
          `${path} looks like a secret, so it is covered: it can be neither seen nor changed here. ${howToShow}`,
        );
      }
    };
  }

  #limited(tool: ContainerTool, timeoutSeconds: number): RunnableTool["run"] {
    return async (input, { signal: cancelled, approved, show }) => {
      const overdue = Promise.withResolvers<ToolOutput>();
      const expired = new AbortController();
      let giveUp: NodeJS.Timeout | undefined;
      const timer = setTimeout(() => {
        expired.abort();
        giveUp = setTimeout(() => overdue.resolve(timedOut(tool.name, timeoutSeconds)), endMs);
      }, timeoutSeconds * 1_000);
      const signal = AbortSignal.any([cancelled, expired.signal]);
      try {
        const running = tool.run(input, { ...this.#options.place, signal, approved, show });
        const result = toToolOutput<ContainerToolOutput>(await Promise.race([running, overdue.promise]));
        if (!expired.signal.aborted || cancelled.aborted) return result;
        const { output } = timedOut(tool.name, timeoutSeconds);
        return result.output.includes(output) ? result : { output: `${result.output}\n[${output}]`, isError: true };
      } catch (error) {
        if (expired.signal.aborted && !cancelled.aborted) return timedOut(tool.name, timeoutSeconds);
        throw error;
      } finally {
        clearTimeout(timer);
        clearTimeout(giveUp);
      }
    };
  }

  /** Which file a path means is known in the container only. */
  #forwarded({ name, resolvePaths }: AnnouncedTool): RunnableTool["run"] {
    return async (input, { askHost, signal }) => {
      if (resolvePaths.length === 0 || typeof input !== "object" || input === null)
        return this.#shown(await askHost(name, input), signal);
      const resolved: Record<string, unknown> = { ...input };
      for (const field of resolvePaths) {
        const path = resolved[field];
        if (typeof path === "string") resolved[field] = await realpath(resolvePath(this.#options.place.paths, path));
      }
      return this.#shown(await askHost(name, resolved), signal);
    };
  }

  async #shown({ output, isError, page }: HostOutput, signal: AbortSignal): Promise<ToolOutput> {
    if (page === undefined) return this.#keptShort({ output, isError });
    return { output: `${output}\n${await this.#options.readPage(page, signal)}`, isError };
  }

  /** Moves what is too long for the model into a file. */
  #keptShort(result: ToolOutput): ToolOutput {
    if (result.output.length <= limits.toolOutputChars) return result;
    const file = this.#options.place.outputs.create();
    file.write(Buffer.from(result.output));
    const where = `[cut here: ${file.close()}]`;
    return { ...result, output: `${fitToolOutput(result.output, limits.toolOutputChars - 500)}\n${where}` };
  }
}
