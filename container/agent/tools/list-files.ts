import type { Dirent } from "node:fs";
import { opendir, readlink } from "node:fs/promises";
import { join } from "node:path";

import { toolInputs } from "../../../src/protocol/tools.ts";
import { resolvePath } from "./paths.ts";
import type { PathBase } from "./paths.ts";
import { descriptionOf, success } from "./tool.ts";
import type { Tool, ToolContext, ToolInput, ToolOutput } from "./tool.ts";

const defaultDepth = 2;
const maxEntries = 1_000;
/** Named, not descended into: their thousands of entries are never what is looked for. */
const closedFolders: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Lists a folder as an indented tree, sorted, folders with a slash. */
export class ListFilesTool implements Tool<"list_files"> {
  readonly name = "list_files";
  readonly description = descriptionOf("list_files");
  readonly schema = toolInputs.list_files;
  readonly readsOnly = true;
  readonly #base: PathBase;

  constructor(base: PathBase) {
    this.#base = base;
  }

  async execute(input: ToolInput<"list_files">, { signal }: ToolContext): Promise<ToolOutput> {
    const path = resolvePath(this.#base, input.path ?? ".");
    const tree = new Tree(signal);
    await tree.add(path, input.depth ?? defaultDepth, "");
    return success([path, ...tree.lines].join("\n"));
  }
}

class Tree {
  readonly lines: string[] = [];
  readonly #signal: AbortSignal;
  #entries = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async add(path: string, depth: number, indent: string): Promise<void> {
    this.#signal.throwIfAborted();
    const { entries, isComplete } = await listSome(path, maxEntries - this.#entries);
    this.#entries += entries.length;
    for (const entry of entries) {
      this.lines.push(`${indent}  ${await label(path, entry)}`);
      const isOpen = entry.isDirectory() && depth > 1 && !closedFolders.has(entry.name);
      if (isOpen) await this.#addInner(join(path, entry.name), depth - 1, `${indent}  `);
    }
    if (!isComplete)
      this.lines.push(`${indent}  [more than ${maxEntries} entries; list a part, or use a smaller depth]`);
  }

  async #addInner(path: string, depth: number, indent: string): Promise<void> {
    try {
      await this.add(path, depth, indent);
    } catch (error) {
      this.#signal.throwIfAborted();
      this.lines.push(`${indent}  [not readable: ${String(error)}]`);
    }
  }
}

async function listSome(path: string, count: number): Promise<{ entries: Dirent[]; isComplete: boolean }> {
  const entries: Dirent[] = [];
  let isComplete = true;
  for await (const entry of await opendir(path)) {
    isComplete = entries.length < count;
    if (!isComplete) break;
    entries.push(entry);
  }
  return { entries: entries.toSorted((one, other) => (one.name < other.name ? -1 : 1)), isComplete };
}

async function label(path: string, entry: Dirent): Promise<string> {
  if (entry.isDirectory()) return `${entry.name}/`;
  if (!entry.isSymbolicLink()) return entry.name;
  return `${entry.name} -> ${await readlink(join(path, entry.name)).catch(() => "?")}`;
}
