import { LRUCache } from "lru-cache";

import type { Group } from "../domain/chats/group.ts";
import type { Tool } from "./catalog.ts";
import type { ToolRegistry } from "./registry.ts";

/** Tools that not every group has, and that may come and go while the host runs. */
export interface ToolSource {
  /**
   * Current tools of this group's agent; an unchanged source returns the same list. Unavailable ones are left out and
   * reported elsewhere: never rejects. Called before each step of a turn.
   */
  toolsOf(group: Group): Promise<readonly Tool[]>;
  /** Announces a turn of this group, which will ask for its tools. Must not throw. */
  warm?(group: Group): void;
  /** Reason why an offered tool of this source is missing now; undefined when it is not this source's. */
  whyMissing?(group: Group, name: string): string | undefined;
}

interface Joined {
  readonly lists: readonly (readonly Tool[])[];
  readonly registry: ToolRegistry;
}

/** Groups at hand; another one's are put together anew. */
const rememberedGroups = 512;

/** The tools of each group: those that every one has, and those of sources. */
export class GroupTools {
  /** The tools that every group has, as far as it may. */
  readonly registry: ToolRegistry;
  readonly #sources: readonly ToolSource[];
  /** By name, and by the agent at work of several. */
  readonly #joined = new LRUCache<string, Joined>({ max: rememberedGroups });

  constructor(registry: ToolRegistry, sources: readonly ToolSource[]) {
    this.registry = registry;
    this.#sources = sources;
  }

  /** Returns the tools of this group, whether it may use them or not. */
  async registryOf(group: Group): Promise<ToolRegistry> {
    const lists = await Promise.all(this.#sources.map((source) => source.toolsOf(group)));
    if (lists.every(({ length }) => length === 0)) return this.registry;
    const key = JSON.stringify([group.name, group.acting?.name]);
    const known = this.#joined.get(key);
    if (known?.lists.every((list, index) => list === lists[index]) === true) return known.registry;
    const registry = this.registry.joinedBy(lists.flat());
    this.#joined.set(key, { lists, registry });
    return registry;
  }

  /** A turn of this group begins. */
  warm(group: Group): void {
    for (const source of this.#sources) source.warm?.(group);
  }

  /** Reason why a source's tool is missing now; undefined when no source knows it. */
  whyMissing(group: Group, name: string): string | undefined {
    for (const source of this.#sources) {
      const reason = source.whyMissing?.(group, name);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
}
