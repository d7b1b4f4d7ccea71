import { spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";

import { limits } from "../../../src/protocol/limits.ts";
import { toError } from "../../../src/lib/app-error.ts";
import { toolInputs } from "../../../src/protocol/tools.ts";
import { decodeText } from "../text.ts";
import { resolvePath } from "./paths.ts";
import type { PathBase } from "./paths.ts";
import { descriptionOf, failure, success } from "./tool.ts";
import type { Tool, ToolContext, ToolInput, ToolOutput } from "./tool.ts";

const timeoutMs = 60_000;
/** Room for the last line of the result. */
const maxBytes = limits.toolOutputChars - 200;

/** Searches with ripgrep: `path:line:text`, sorted by path, as far as a result has room. */
export class SearchFilesTool implements Tool<"search_files"> {
  readonly name = "search_files";
  readonly description = descriptionOf("search_files");
  readonly schema = toolInputs.search_files;
  readonly readsOnly = true;
  readonly #base: PathBase;
  readonly #environment: Readonly<Record<string, string>>;

  constructor(base: PathBase, environment: Readonly<Record<string, string>>) {
    this.#base = base;
    this.#environment = environment;
  }

  async execute(input: ToolInput<"search_files">, { signal }: ToolContext): Promise<ToolOutput> {
    const path = resolvePath(this.#base, input.path ?? ".");
    await access(path);
    const search = await ripgrep(argumentsOf(input, path), {
      cwd: this.#base.workingDirectory(),
      env: this.#environment,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (search.problem !== undefined) return failure(search.problem);
    if (search.output === "") return success("[no matches]");
    return success(search.isCut ? `${search.output}\n[more matches were cut; narrow the search]` : search.output);
  }
}

function argumentsOf(input: ToolInput<"search_files">, path: string): string[] {
  const fixed = ["--line-number", "--with-filename", "--no-heading", "--color=never", "--hidden", "--glob=!.git"];
  const shape = ["--max-columns=500", "--max-columns-preview", "--sort=path", "--no-messages", "--no-config"];
  const glob = input.glob === undefined ? [] : [`--glob=${input.glob}`];
  return [...fixed, ...shape, ...glob, `--regexp=${input.pattern}`, "--", path];
}

interface SearchOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

interface Search {
  readonly output: string;
  readonly isCut: boolean;
  readonly problem: string | undefined;
}

async function ripgrep(parameters: readonly string[], options: SearchOptions): Promise<Search> {
  const child = spawn("rg", parameters, { ...options, stdio: ["ignore", "pipe", "pipe"], killSignal: "SIGKILL" });
  const output = new Beginning(() => child.kill("SIGKILL"));
  const errors = new Beginning(() => child.kill("SIGKILL"));
  child.stdout.on("data", (chunk: Buffer) => output.add(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.add(chunk));
  try {
    const [code] = (await once(child, "close")) as [number | null];
    // 2 without a word: some file could not be read, the others were.
    const problem = code === 2 && errors.text() !== "" ? `ripgrep: ${errors.text()}` : undefined;
    return { output: output.text(), isCut: output.isCut, problem };
  } catch (error) {
    return { output: "", isCut: false, problem: `The search did not finish: ${toError(error).message}` };
  }
}

/** The first bytes of a stream; says so when there are more. */
class Beginning {
  readonly #chunks: Buffer[] = [];
  readonly #onCut: () => void;
  #bytes = 0;

  constructor(onCut: () => void) {
    this.#onCut = onCut;
  }

  get isCut(): boolean {
    return this.#bytes > maxBytes;
  }

  add(chunk: Buffer): void {
    if (!this.isCut) this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.isCut) this.#onCut();
  }

  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    if (!this.isCut) return decodeText(bytes).trimEnd();
    return decodeText(bytes.subarray(0, bytes.lastIndexOf(10, maxBytes)));
  }
}
