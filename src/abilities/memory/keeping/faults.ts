import type { Logger } from "pino";

import type { Publish } from "../../../domain/events/event.ts";
import { agentNamedBy, groupOfFolder } from "../../../domain/chats/group.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import { memoryOptions } from "../memory-path.ts";

/**
 * Memories that cannot be used, such as one whose file is damaged. The group's turns go on without; that is told once,
 * and again only after it has worked in between.
 */
export class MemoryFaults {
  readonly #publish: Publish<"memory.failed">;
  readonly #logger: Logger;
  /** By the folder in which the group's agent works. */
  readonly #known = new Set<string>();

  constructor(publish: Publish<"memory.failed">, logger: Logger) {
    this.#publish = publish;
    this.#logger = logger;
  }

  failed(folder: string, error: Error): void {
    if (this.#known.has(folder)) return;
    this.#known.add(folder);
    const group = groupOfFolder(folder);
    const repair = `stop the host, then ${ownCommand(`memory reindex ${memoryOptions(folder)}`)}`;
    this.#logger.error({ err: error, group, repair }, "the memory of a group cannot be used; its turns go on without");
    const data = { reason: error.message, ...agentNamedBy(folder) };
    const event = { type: "memory.failed", group, actor: "host", data } as const;
    this.#publish(event).catch((err: unknown) =>
      this.#logger.warn({ err, group }, "a memory that fails could not be told about"),
    );
  }

  worked(folder: string): void {
    this.#known.delete(folder);
  }
}
