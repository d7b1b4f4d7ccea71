import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { AppError } from "../../src/lib/app-error.ts";
import { unifiedDiff } from "../../src/lib/text/unified-diff.ts";
import { chooseChanges } from "../../src/domain/rights/review.ts";
import type {
  ApplyResult,
  DiscardResult,
  ReviewChange,
  ReviewDecision,
  ReviewDiff,
  ReviewEntry,
  ReviewLayer,
  ReviewLayers,
} from "../../src/sandbox/review/review-layer.ts";

/** Folders of files, one as it is and one as an agent sees it, compared file by file. Needs no container. */
export class PlainReview implements ReviewLayer {
  readonly group: string;
  readonly target: string;
  readonly source: string;
  /** The folder as the agent sees it. */
  readonly seen: string;
  /** More changes than this are not listed. */
  mostChanges = Infinity;
  /** A turn is at work in it. */
  isBusy = false;
  /** Real sides of changes when they were first seen. */
  readonly #bases = new Map<string, string | undefined>();
  /** Called before each file that is changed. */
  beforeFile: (path: string) => void = () => {};

  constructor(folder: string, { group = "family", target = "site" } = {}) {
    this.group = group;
    this.target = target;
    this.source = join(folder, target, "real");
    this.seen = join(folder, target, "seen");
  }

  async begin(): Promise<void> {
    await mkdir(this.source, { recursive: true });
    await mkdir(this.seen, { recursive: true });
  }

  /** Changes files of the real folder, which the agent sees where it has not changed its own. */
  async edit(files: Readonly<Record<string, string | undefined>>): Promise<void> {
    const changed = new Set((await this.diff()).changes.map(({ path }) => path));
    await writeFiles(this.source, files);
    const others = Object.entries(files).filter(([path]) => !changed.has(path));
    await writeFiles(this.seen, Object.fromEntries(others));
  }

  async diff(): Promise<ReviewDiff> {
    const [before, after] = [await filesIn(this.source), await filesIn(this.seen)];
    const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
    const changes = paths.flatMap((path) => this.#compare(path, before.get(path), after.get(path)));
    for (const path of this.#bases.keys())
      if (!changes.some((change) => change.path === path)) this.#bases.delete(path);
    const cut = changes.length > this.mostChanges;
    const listed = changes.slice(0, this.mostChanges);
    return { changes: listed, cut, digest: sha256(JSON.stringify([listed, cut])) };
  }

  #compare(path: string, before: string | undefined, after: string | undefined): ReviewChange[] {
    if (before === after) return [];
    const sides = {
      ...(before !== undefined && { before: entryOf(before) }),
      ...(after !== undefined && { after: entryOf(after) }),
    };
    const kind = before === undefined ? "added" : after === undefined ? "deleted" : "changed";
    const text = unifiedDiff(before ?? "", after ?? "");
    if (!this.#bases.has(path)) this.#bases.set(path, before);
    const conflict = this.#bases.get(path) !== before && { conflict: true };
    return [{ path, kind, entry: "file", ...sides, text, remarks: [], ...conflict }];
  }

  async apply(decision: ReviewDecision): Promise<ApplyResult> {
    const wanted = await this.#begin(decision);
    const kept = wanted.filter(({ conflict }) => conflict === true);
    const applied = wanted.filter(({ conflict }) => conflict !== true);
    for (const change of applied) await this.#copy(change, this.seen, this.source);
    return {
      applied,
      kept: kept.map(({ path }) => ({ path, reason: "has changed meanwhile" })),
    };
  }

  async discard(decision: ReviewDecision): Promise<DiscardResult> {
    const discarded = await this.#begin(decision);
    for (const change of discarded) await this.#copy(change, this.source, this.seen);
    return { discarded };
  }

  async #begin({ paths, digest, record }: ReviewDecision): Promise<readonly ReviewChange[]> {
    if (this.isBusy) throw new AppError("conflict", "An agent is at work.", { passing: true });
    const now = await this.diff();
    if (now.digest !== digest) throw new AppError("conflict", "It has changed.");
    if (now.cut && paths === undefined) throw new AppError("conflict", "There are more changes than are listed.");
    const names = now.changes.map(({ path, kind }) => ({ path, kind, bytes: 0 }));
    const { chosen, unknown } = chooseChanges(names, paths);
    if (unknown.length > 0) throw new AppError("not_found", `Nothing has changed at ${unknown.join(", ")}.`);
    const wanted = now.changes.filter(({ path }) => chosen.some((one) => one.path === path));
    await record(wanted);
    return wanted;
  }

  async #copy({ path }: ReviewChange, from: string, to: string): Promise<void> {
    this.beforeFile(path);
    await mkdir(dirname(join(to, path)), { recursive: true });
    try {
      await cp(join(from, path), join(to, path));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
      await rm(join(to, path));
    }
  }
}

/** The layers of a group's folders. */
export function plainLayers(...layers: readonly PlainReview[]): ReviewLayers {
  return {
    of: async (group) => layers.filter((layer) => layer.group === group),
    mayHaveChanged: async () => true,
  };
}

/** Writes files, or removes those without a text. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string | undefined>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    if (text === undefined) await rm(join(folder, path));
    else await writeFile(join(folder, path), text);
  }
}

async function filesIn(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.map(async (file) => [file.slice(folder.length + 1), await readFile(file, "utf8")] as const);
  return new Map(await Promise.all(read));
}

function entryOf(text: string): ReviewEntry {
  const script = text.startsWith("#!") ? ({ isScript: true } as const) : {};
  return { entry: "file", sha256: sha256(text), size: text.length, mode: 0o644, ...script };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
