import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import { isPassing } from "../../lib/app-error.ts";
import { PendingCheck } from "../../lib/pending-check.ts";
import type { RunChatCommands } from "./chat-commands.ts";

/** Runs the commands of groups' chats, and keeps from looking for some where there are none. */
export class GroupCommands {
  readonly #run: RunChatCommands;
  readonly #logger: Logger;
  readonly #pending = new PendingCheck();

  constructor(run: RunChatCommands, logger: Logger) {
    this.#run = run;
    this.#logger = logger;
  }

  /**
   * Runs the group's new commands. Rejects when the machine is in trouble: they are kept then. Another failure is
   * logged and left for the next call, so that a command that cannot be carried out holds up nothing.
   */
  runNew(group: Group): Promise<void> {
    this.#pending.raise(group.name);
    return this.runLeft(group);
  }

  /** Runs commands that were under way, or could not be carried out. Rejects as `runNew` does. */
  async runLeft(group: Group): Promise<void> {
    try {
      await this.#pending.settle(group.name, () => this.#run(group));
    } catch (error) {
      this.#logger.error({ error, group: group.name }, "a chat command could not be carried out");
      if (isPassing(error)) throw error;
    }
  }
}
