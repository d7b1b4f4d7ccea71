import { existsSync } from "node:fs";

import type { Group } from "../../../domain/chats/group.ts";
import type { MemorySettings } from "../config.ts";
import { embedderSource } from "../embedding/embedder-source.ts";
import { modelFolder } from "../embedding/model-files.ts";
import { globalNotes } from "../item.ts";
import { memoryPath } from "../memory-path.ts";
import type { MemoryServiceNeeds } from "../memory-needs.ts";
import { type MemoryAt, MemoryClient } from "./memory-client.ts";

/** The memories of a home by the folder of a group or an agent, and the global notes. */
export class HomeMemories implements AsyncDisposable {
  readonly settings: () => MemorySettings;
  readonly #needs: Pick<MemoryServiceNeeds, "paths" | "serverOfProvider" | "logger">;
  readonly #clients = new AsyncDisposableStack();
  #current: { readonly settings: string; readonly client: MemoryClient } | undefined;

  constructor(
    needs: Pick<MemoryServiceNeeds, "paths" | "serverOfProvider" | "logger">,
    settings: () => MemorySettings,
  ) {
    this.#needs = needs;
    this.settings = settings;
  }

  /** The memory of this folder, whether groups remember things or not. */
  readonly at = (folder: string): MemoryAt => this.#client().at(memoryPath(this.#needs.paths.memory, folder));

  /** True when there is a file of this memory. */
  has(folder: string): boolean {
    return existsSync(memoryPath(this.#needs.paths.memory, folder));
  }

  /** Global notes, for a group that may read them, where there are some. */
  globalFor({ name, main }: Pick<Group, "name" | "main">): MemoryAt | undefined {
    const { enabled, global } = this.settings();
    const mayRead = main || global.read === "all" || (Array.isArray(global.read) && global.read.includes(name));
    return enabled && mayRead && this.has(globalNotes) ? this.at(globalNotes) : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clients.disposeAsync();
  }

  /** The client that works with the settings of now; one with others is closed when another one is needed. */
  #client(): MemoryClient {
    const { paths, serverOfProvider, logger } = this.#needs;
    const { weights } = this.settings();
    const place = embedderSource(this.settings(), serverOfProvider, modelFolder(paths.root));
    const settings = JSON.stringify([place, weights]);
    if (this.#current?.settings === settings) return this.#current.client;
    const last = this.#current?.client;
    const onSlow = (slow: object): void => logger.warn(slow, "vectors of memories are compared more slowly");
    const client = this.#clients.use(new MemoryClient({ place, weights, onSlow }));
    this.#current = { settings, client };
    void last?.[Symbol.asyncDispose]();
    return client;
  }
}
