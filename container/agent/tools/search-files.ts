import { spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";

import * as z from "zod";

import { limits } from "../../../src/protocol/limits.ts";
import { ToolError } from "../../../src/protocol/tools.ts";
import { decodeText } from "../text.ts";
import { toError } from "../to-error.ts";
import { resolvePath } from "./paths.ts";
import { defineContainerTool } from "./tool.ts";

/** Room for the last line of the result. */
const maxBytes = limits.toolOutputChars - 200;

/** `path:line:text` as ripgrep finds it, sorted by path, as far as a result has room. */
export const searchFiles = defineContainerTool({
  name: "search_files",
  description: "Search file contents with ripgrep.",
  input: z.strictObject({
    pattern: z.string().min(1).describe("Regular expression in ripgrep's syntax."),
    path: z.string().min(1).optional().describe("Folder or file to search. Default: the working directory."),
    glob: z.string().min(1).optional().describe("Only files that match, such as *.ts."),
  }),
  risk: "low",
  timeoutSeconds: 60,
  activity: { doing: "searching files", shows: "pattern" },
  readsOnly: true,
  run: async (input, { paths, environment, signal }) => {
    const path = resolvePath(paths, input.path ?? ".");
    await access(path);
    const search = await ripgrep(argumentsOf(input, path), { cwd: paths.workingDirectory(), env: environment, signal });
    if (search.problem !== undefined) throw new ToolError(search.problem);
    if (search.output === "") return "[no matches]";
    return search.isCut ? `${search.output}\n[more matches were cut; narrow the search]` : search.output;
  },
});

function argumentsOf(input: { readonly pattern: string; readonly glob?: string | undefined }, path: string): string[] {
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
