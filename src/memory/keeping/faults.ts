import type { Logger } from "pino";

import type { Publish } from "../../events/event.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

export interface MemoryFaultsOptions {
  readonly publish: Publish<"memory.failed">;
  readonly logger: Logger;
}

/**
 * Memories that cannot be used, such as one whose file is damaged. The group's turns go on without; that is told once, and again only
 * after it has worked in between.
 */
export class MemoryFaults {
  readonly #options: MemoryFaultsOptions;
  /** By group. */
  readonly #known = new Set<string>();

  constructor(options: MemoryFaultsOptions) {
    this.#options = options;
  }

  failed(group: string, error: Error): void {
    if (this.#known.has(group)) return;
    this.#known.add(group);
    const { logger, publish } = this.#options;
    const repair = `stop the host, then ${ownCommand(`memory reindex --group ${group}`)}`;
    logger.error({ err: error, group, repair }, "the memory of a group cannot be used; its turns go on without");
    const event = { type: "memory.failed", group, actor: "host", data: { reason: error.message } } as const;
    publish(event).catch((err: unknown) => logger.warn({ err, group }, "a memory that fails could not be told of"));
  }

  worked(group: string): void {
    this.#known.delete(group);
  }
}
