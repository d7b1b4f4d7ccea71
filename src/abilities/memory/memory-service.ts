import { existsSync } from "node:fs";

import { agentNamedBy, type Group, groupOfFolder } from "../../domain/chats/group.ts";
import type { Actor } from "../../domain/people/actor.ts";
import type { LookUpForeword } from "../../domain/turns/foreword.ts";
import { toError } from "../../lib/app-error.ts";
import { ToolError } from "../../protocol/tools.ts";
import type { AbilityService, CallingTurn } from "../define-ability.ts";
import type { MemorySettings } from "./config.ts";
import type { LoadedMemories } from "./loaded-memories.ts";
import type { MemoryServiceNeeds } from "./memory-needs.ts";
import { memoryPath } from "./memory-path.ts";
import type { MemoryPort } from "./memory-port.ts";
import type { MemoryAt } from "./thread/memory-client.ts";
import type { Found, ListQuery, Memory } from "../../processes/memory-schemas.ts";

/** Memories of groups; loads nothing until `memory.enabled` is set, which may happen while the host runs. */
export class MemoryService implements AbilityService {
  readonly #needs: MemoryServiceNeeds;
  readonly #settings: () => MemorySettings;
  #loading: Promise<LoadedMemories | undefined> | undefined;
  #loaded: LoadedMemories | undefined;
  #isOver = false;

  constructor(needs: MemoryServiceNeeds, settings: () => MemorySettings) {
    this.#needs = needs;
    this.#settings = settings;
    // The first turn may ask for memories at once.
    void this.#whenEnabled();
  }

  /** True when groups remember what is said. */
  isEnabled(): boolean {
    return this.#settings().enabled;
  }

  /** Takes in what was said while nobody listened. */
  begin(): void {
    this.settingsChanged();
  }

  settingsChanged(): void {
    void this.#whenEnabled().then((memories) => memories?.takeInAll());
  }

  /** Something may have been said in this group. */
  said(group: string | undefined): void {
    if (group !== undefined && this.isEnabled()) this.#loaded?.said(group);
  }

  /** Prepares the memory of a group or agent's folder for a text that a turn is about to see. */
  foresee(folder: string, text: string): void {
    void this.#whenEnabled().then((memories) => memories?.foresee(folder, text));
  }

  /** Memories that fit what is said. */
  readonly foreword: LookUpForeword = async (coming) => (await this.#whenEnabled())?.foreword(coming);

  /** Draws facts from what was said in the group so far. Takes no longer than a while, and never rejects. */
  readonly extract = async (group: Group, signal: AbortSignal): Promise<void> =>
    (await this.#whenEnabled())?.extract(group, signal);

  /** Memories for a call of a tool in this turn. Throws ToolError where the group has none. */
  async portFor(scope: CallingTurn): Promise<MemoryPort> {
    const memories = await this.#whenEnabled();
    if (!memories) throw new ToolError("This group remembers nothing.");
    return memories.portFor(scope);
  }

  /** Memories of a group or agent's folder that fit best. One that remembers nothing stays without a file. */
  async search(folder: string, query: string, limit: number): Promise<readonly Found[]> {
    return (await this.#existing(folder))?.search(query, { limit }) ?? [];
  }

  /** Memories of a group or agent's folder, newest first. */
  async list(folder: string, query: ListQuery): Promise<readonly Memory[]> {
    return (await this.#existing(folder))?.list(query) ?? [];
  }

  /** One memory of a group or agent's folder; undefined: there is none. */
  async get(folder: string, id: string): Promise<Memory | undefined> {
    return (await this.#existing(folder))?.get(id);
  }

  /** Removes a memory for good; false where there is none. */
  async forget(
    folder: string,
    id: string,
    { actor, why }: { readonly actor: Actor; readonly why: "command" | "gateway" },
  ): Promise<boolean> {
    const memory = await this.#existing(folder);
    if (!memory || !(await memory.get(id))) return false;
    const data = { ids: [id], why, ...agentNamedBy(folder) };
    await this.#needs.publish({ type: "memory.forgotten", group: groupOfFolder(folder), actor, data });
    return (await memory.forget([id])) > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await (await this.#loading)?.[Symbol.asyncDispose]();
  }

  /** The memory of this folder, even if memories are disabled now; undefined: none. */
  async #existing(folder: string): Promise<MemoryAt | undefined> {
    if (!existsSync(memoryPath(this.#needs.paths.memory, folder))) return undefined;
    return (await (this.#loading ??= this.#load()))?.at(folder);
  }

  async #whenEnabled(): Promise<LoadedMemories | undefined> {
    return this.isEnabled() ? (this.#loading ??= this.#load()) : undefined;
  }

  async #load(): Promise<LoadedMemories | undefined> {
    try {
      const { LoadedMemories: Loaded } = await import("./loaded-memories.ts");
      if (!this.#isOver) this.#loaded = new Loaded(this.#needs, this.#settings);
      return this.#loaded;
    } catch (error) {
      this.#needs.logger.error({ err: toError(error) }, "groups remember nothing: what does it could not be loaded");
      return undefined;
    }
  }
}
