import type { Dirent } from "node:fs";
import { opendir, readlink } from "node:fs/promises";
import { join } from "node:path";

import * as z from "zod";

import { resolvePath } from "./paths.ts";
import { defineContainerTool } from "./tool.ts";

const defaultDepth = 2;
const maxEntries = 1_000;
/** Named, not descended into: their thousands of entries are never what is looked for. */
const closedFolders: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** An indented tree, sorted, folders with a slash. */
export const listFiles = defineContainerTool({
  name: "list_files",
  description: "List files and folders below a folder.",
  input: z.strictObject({
    path: z.string().min(1).optional().describe("Folder to list. Default: the working directory."),
    depth: z.number().int().min(1).max(8).optional().describe("How deep. Default 2."),
  }),
  risk: "low",
  timeoutSeconds: 60,
  activity: { doing: "looking through files", shows: "path" },
  readsOnly: true,
  run: async (input, { paths, signal }) => {
    const path = resolvePath(paths, input.path ?? ".");
    const tree = new Tree(signal);
    await tree.add(path, input.depth ?? defaultDepth, "");
    return [path, ...tree.lines].join("\n");
  },
});

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
