import { existsSync, readdirSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { agentFolder, groupNameFault, groupOfFolder } from "../../domain/chats/group.ts";
import { AppError, nothingIfMissing, toError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import type { InstallOptions } from "../../models/local/install-model.ts";
import type { Found, ListQuery, Memory, NewMemory, SearchOptions } from "../../processes/memory-schemas.ts";
import type { ErasableMemories } from "../../records/erasure/erase-person.ts";
import type { MemorySettings } from "./config.ts";
import { embedderSource, type ServerOfProvider } from "./embedding/embedder-source.ts";
import { installEmbedder } from "./embedding/install-embedder.ts";
import { isModelInstalled, LocalEmbedder } from "./embedding/local-embedder.ts";
import { localModel, modelFolder } from "./embedding/model-files.ts";
import { openEmbedder } from "./embedding/open-embedder.ts";
import { discountSaid, erasePerson, noteSaid } from "./file/erase-person.ts";
import { MemoryFile } from "./file/memory-file.ts";
import { faultOfFile, repairFile, type Salvaged } from "./file/repair.ts";
import { GroupMemory, type MemoryStats } from "./group-memory.ts";
import { slowVectors } from "./index/vectors/open-vectors.ts";
import { globalNotes } from "./item.ts";
import { nextCleaning } from "./keeping/hygiene.ts";
import { importLines } from "./lines/import-lines.ts";
import { runPipe } from "./lines/pipe.ts";
import { toExported } from "./operations.ts";
import { memoryOfFile, memoryOptions, memoryPath } from "./memory-path.ts";

interface MemoryHomeOptions {
  readonly paths: { readonly root: string; readonly memory: string };
  /** Reads settings of memories and of providers; all else of the configuration may be invalid. */
  readonly load: () => Promise<{ readonly settings: MemorySettings; readonly serverOf: ServerOfProvider }>;
  /** Called when memories were stored and are found by words only for now. */
  readonly onUnembedded: (error: Error) => void;
}

/** A thing that `crabpot doctor` says of memories. */
export interface MemoryFinding {
  readonly level: "ok" | "warning" | "failure";
  readonly detail: string;
  readonly fix?: string;
}

/** The size of a memory, and when old ones are removed; null: never. */
export interface MemoryOverview extends Omit<MemoryStats, "cleanedAt"> {
  readonly lastCleaning: number | null;
  readonly nextCleaning: number | null;
}

const noStats: MemoryStats = { items: 0, superseded: 0, embedded: 0, model: null, categories: {}, cleanedAt: null };

/**
 * The memories of a home, as far as they need no running host; one may run. A memory's name is that of its group, of
 * another agent (`group@agent`), or `global`. One that does not exist is made by `add`, `import` and `pipe` only.
 */
export class MemoryHome {
  readonly #options: MemoryHomeOptions;

  constructor(options: MemoryHomeOptions) {
    this.#options = options;
  }

  /**
   * Name of an agent's memory, which must exist: the group's settings tell which agent uses the group's own. Throws
   * AppErrors.
   */
  nameOf(group: string, agent: string | undefined): string {
    if (group.includes("@")) throw new AppError("bad_input", `"${group}" ${groupNameFault(group) ?? "is no group"}.`);
    if (agent === undefined) return group;
    const { memory } = this.#options.paths;
    const wanted = agentFolder(group, agent);
    const files = existsSync(memory) ? readdirSync(memory) : [];
    if (files.some((file) => memoryOfFile(file) === wanted)) return wanted;
    throw new AppError("not_found", `Group ${group} has no memory of an agent "${agent}" beside its first one.`, {
      fix: "leave out --agent for the first agent's memory; others have one once they remember something",
    });
  }

  /** Searches by words and by meaning. */
  async search(name: string, query: string, options: SearchOptions): Promise<readonly Found[]> {
    return (await this.#look(name, (memory) => memory.search(query, options))) ?? [];
  }

  /** Lists memories, newest first. */
  async list(name: string, query: ListQuery): Promise<readonly Memory[]> {
    return (await this.#look(name, async (memory) => memory.list(query))) ?? [];
  }

  /** One memory. Throws `not_found`. */
  async get(name: string, id: string): Promise<Memory> {
    const found = await this.#look(name, async (memory) => memory.get(id));
    if (found) return found;
    throw unknownMemory(id, name);
  }

  /** The size of a memory, and when old ones are removed. */
  async overview(name: string): Promise<MemoryOverview> {
    const stats = await this.#look(name, async (memory) => memory.stats());
    const { cleanedAt: lastCleaning, ...rest } = stats ?? noStats;
    const { enabled, hygiene } = (await this.#options.load()).settings;
    const now = Date.now();
    const next = enabled ? nextCleaning(lastCleaning ?? 0, hygiene, now) : undefined;
    return { ...rest, lastCleaning, nextCleaning: next === undefined ? null : Math.max(next, now) };
  }

  /** Adds a memory. */
  async add(name: string, memory: NewMemory): Promise<void> {
    await this.#change(name, async (opened) => opened.add([memory]));
  }

  /** Removes memories for good, and gives how many. Throws `not_found`, and removes none, when one is unknown. */
  async forget(name: string, ids: readonly string[]): Promise<number> {
    const forgotten = await this.#look(name, async (memory) => {
      const unknown = ids.find((id) => memory.get(id) === undefined);
      if (unknown !== undefined) throw unknownMemory(unknown, name);
      return memory.forget(ids);
    });
    if (forgotten === undefined) throw unknownMemory(ids[0] ?? "", name);
    return forgotten;
  }

  /** Makes all vectors and the index of words anew; first repairs a damaged file, while no host runs. */
  async reindex(
    name: string,
    isHostRunning: () => Promise<boolean>,
  ): Promise<Pick<MemoryStats, "items" | "embedded"> & { readonly repaired: Salvaged | undefined }> {
    const repaired = await this.#repairIfDamaged(name, isHostRunning);
    const stats = await this.#look(name, async (memory) => {
      await memory.reindex();
      return memory.stats();
    });
    return { items: stats?.items ?? 0, embedded: stats?.embedded ?? 0, repaired };
  }

  /** Writes all memories as objects. */
  async export(name: string, write: (one: object) => void): Promise<void> {
    await this.#look(name, async (memory) => {
      for (const one of memory.all()) write(toExported(one));
    });
  }

  /** Adds memories from lines as they were exported, and gives how many. */
  import(name: string, input: AsyncIterable<Buffer | string>): Promise<number> {
    return this.#change(name, (memory) => importLines(memory, input));
  }

  /** Carries out orders from lines of JSON, and answers each. */
  async pipe(name: string, input: AsyncIterable<Buffer | string>, answer: (answer: object) => void): Promise<void> {
    await this.#change(name, (memory) => runPipe(memory, input, answer));
  }

  /** Installs the local model. */
  async installModel(
    options: Pick<InstallOptions, "from" | "variables">,
  ): Promise<{ readonly name: string; readonly folder: string; readonly bytes: number }> {
    const folder = modelFolder(this.#options.paths.root);
    const { bytes } = await installEmbedder({ ...options, folder });
    return { name: localModel.name, folder, bytes };
  }

  /** Finds out by what memories are found, and which files are damaged. */
  async check({ embeddings, enabled }: MemorySettings): Promise<readonly MemoryFinding[]> {
    const { root, memory } = this.#options.paths;
    const files = await damagedFiles(memory);
    if (embeddings === "none")
      return [{ level: "ok", detail: "Memories are found by words (memory.embeddings: none)." }, ...files];
    const slow = slowVectors();
    const vectors: MemoryFinding[] = slow ? [describeSlow(slow)] : [];
    if (embeddings === "local") return [await checkModel(modelFolder(root), enabled), ...vectors, ...files];
    const detail = `${embeddings.provider} embeds memories with ${embeddings.model}.`;
    return [{ level: "ok", detail }, ...vectors, ...files];
  }

  async #open<T>(name: string, use: (memory: GroupMemory) => Promise<T>): Promise<T> {
    const { load, paths } = this.#options;
    const path = this.#pathOf(name);
    const { settings, serverOf } = await load();
    await using owned = new AsyncDisposableStack();
    const embedder = await openEmbedder(embedderSource(settings, serverOf, modelFolder(paths.root)));
    if (embedder !== undefined) owned.use(embedder);
    const memory = owned.use(new GroupMemory({ path, weights: settings.weights, embedder }));
    return await use(memory);
  }

  async #look<T>(name: string, use: (memory: GroupMemory) => Promise<T>): Promise<T | undefined> {
    return existsSync(this.#pathOf(name)) ? this.#open(name, use) : undefined;
  }

  #change<T>(name: string, use: (memory: GroupMemory) => Promise<T>): Promise<T> {
    return this.#open(name, async (memory) => {
      const result = await use(memory);
      await memory.flush().catch((error: unknown) => this.#options.onUnembedded(toError(error)));
      return result;
    });
  }

  #pathOf(name: string): string {
    const fault = name === globalNotes ? undefined : groupNameFault(groupOfFolder(name));
    if (fault !== undefined) throw new AppError("bad_input", `"${name}" ${fault}.`);
    return memoryPath(this.#options.paths.memory, name);
  }

  async #repairIfDamaged(name: string, isHostRunning: () => Promise<boolean>): Promise<Salvaged | undefined> {
    const path = this.#pathOf(name);
    const fault = existsSync(path) ? faultOfFile(path) : undefined;
    if (fault === undefined) return undefined;
    if (!(await isHostRunning())) return repairFile(path);
    throw new AppError(
      "store_failed",
      `The memory ${path} is damaged (${fault}) and cannot be repaired while a host runs.`,
      { fix: `stop the host, then run ${ownCommand(`memory reindex ${memoryOptions(name)}`)}` },
    );
  }
}

function unknownMemory(id: string, name: string): AppError {
  return new AppError("not_found", `Group ${groupOfFolder(name)} has no memory "${id}".`, {
    fix: `see \`${ownCommand(`memory list ${memoryOptions(name)}`)}\``,
  });
}

/** A search is right then, too, and takes ten times as long. */
function describeSlow({ strategy, reason }: { readonly strategy: string; readonly reason: string }): MemoryFinding {
  const detail = `Comparing vectors of memories is slow in large groups (${strategy}): ${reason}`;
  return { level: "warning", detail, fix: "use a processor and Node options that allow WebAssembly with SIMD" };
}

/** Lets the model show that it works: its files may be damaged, or of another version. */
async function checkModel(folder: string, isUsed: boolean): Promise<MemoryFinding> {
  const fix = ownCommand("memory install-model");
  if (!(await isModelInstalled(folder))) {
    const detail = "Memories are found by words only: the local model is not installed.";
    return isUsed ? { level: "warning", detail, fix } : { level: "ok", detail };
  }
  await using embedder = new LocalEmbedder(folder);
  try {
    await embedder.embed(["hello"]);
    return { level: "ok", detail: "Memories are found by words and by meaning: the local model is installed." };
  } catch (error) {
    return { level: "warning", detail: `Memories are found by words only: ${toError(error).message}`, fix };
  }
}

async function damagedFiles(folder: string): Promise<MemoryFinding[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((file) => {
    const name = memoryOfFile(file);
    const fault = name === undefined ? undefined : faultOfFile(join(folder, file));
    if (name === undefined || fault === undefined) return [];
    const fix = `Stop the host, then ${ownCommand(`memory reindex ${memoryOptions(name)}`)}`;
    return [
      { level: "failure", detail: `The memory of ${name} is damaged, and its turns run without it: ${fault}.`, fix },
    ];
  });
}

const damaged = /^(.+)\.sqlite\.damaged-\d+(?:-wal|-shm|-journal)?$/;

/** The memories in this folder, from which people's words can be erased. */
export function erasableMemories(folder: string): ErasableMemories {
  const pathOf = (name: string): string => memoryPath(folder, name);
  const list = async (): Promise<string[]> => (await readdir(folder).catch(nothingIfMissing)) ?? [];
  return {
    names: async () => {
      const names = await list();
      return names.flatMap((name) => memoryOfFile(name) ?? []);
    },
    isForAll: (name) => name === globalNotes,
    noteSaid: (name, people, traces) => noteSaid(pathOf(name), { people }, traces),
    discountSaid: (name, people, traces) => discountSaid(pathOf(name), { people }, traces),
    erase: (name, erasing) => erasePerson(pathOf(name), erasing),
    removeDamaged: async (isOne) => {
      const names = await list();
      const gone = names.filter((name) => isOne(damaged.exec(name)?.[1] ?? ""));
      for (const name of gone) await rm(join(folder, name), { force: true });
      return gone.length;
    },
  };
}

/** True when this group or one of its agents has memories. */
export async function hasMemories(folder: string, group: string): Promise<boolean> {
  const files = (await readdir(folder).catch(nothingIfMissing)) ?? [];
  const own = files.flatMap((file) => memoryOfFile(file) ?? []).filter((name) => groupOfFolder(name) === group);
  return own.some((name) => {
    using file = MemoryFile.open(memoryPath(folder, name));
    return file.counts(undefined).items > 0;
  });
}
