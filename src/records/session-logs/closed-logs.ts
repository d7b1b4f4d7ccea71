import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import type { Logger } from "pino";

import type { Publish } from "../../domain/events/event.ts";
import { toError } from "../../lib/app-error.ts";
import { digestOfFile } from "../../lib/files/file-digest.ts";
import type { Store } from "../../stores/contract/store.ts";
import { fullLogsAmong } from "./log-names.ts";

/** A session and the group that it is of. */
interface Owner {
  readonly group: string;
  readonly session: string;
}

export interface ClosedLogsOptions {
  /** Holds the sessions' folders: `<home>/sessions`. */
  readonly folder: string;
  readonly sessions: Pick<Store["sessions"], "list">;
  /** Maximum bytes of a group's logs. */
  readonly groupBytes: number;
  /** Maximum bytes of a log before it is closed. */
  readonly fileBytes: number;
  readonly publish: Publish<"container-output.closed" | "container-output.pruned">;
  readonly logger: Logger;
}

/** A full log on the disk. */
interface Kept extends Owner {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly writtenAt: number;
}

/**
 * Full logs of sessions: each is put on record by its digest, so that a change of it is found later; then the oldest
 * ones of its group are removed, as far as all together take too much. A log that was closed and is not on record yet
 * bears that in its name, so that a crash loses none.
 */
export class ClosedLogs implements AsyncDisposable {
  readonly #options: ClosedLogsOptions;
  #working: Promise<void>;

  /** Begins with what an earlier life of the host has left. */
  constructor(options: ClosedLogsOptions) {
    this.#options = options;
    this.#working = this.#attempt(async () => {
      for (const { id: session, group } of await options.sessions.list()) await this.#settle({ group, session });
    });
  }

  /** A log of this session was closed. */
  closed(owner: Owner): void {
    this.#working = this.#working.then(() => this.#attempt(() => this.#settle(owner)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#working;
  }

  /** Attempts work; failures are retried when the next log closes, and at the next start. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.logger.error({ err: toError(error) }, "closed logs could not be recorded");
    }
  }

  async #settle(owner: Owner): Promise<void> {
    const { publish } = this.#options;
    const folder = join(this.#options.folder, owner.session);
    const closing = fullLogsAmong(await namesIn(folder)).filter(({ isClosing }) => isClosing);
    for (const { name, finalName: file } of closing) {
      const data = { file, ...(await digestOfFile(join(folder, name))) };
      await publish({ type: "container-output.closed", ...owner, actor: "host", data });
      await rename(join(folder, name), join(folder, file));
    }
    if (closing.length > 0) await this.#prune(owner.group);
  }

  async #prune(group: string): Promise<void> {
    const { sessions, groupBytes, fileBytes, publish } = this.#options;
    const owners = (await sessions.list()).filter((session) => session.group === group);
    const kept = (await Promise.all(owners.map(({ id: session }) => this.#keptOf({ group, session })))).flat();
    // Those that are being written may grow to their full size.
    let excess = kept.reduce((sum, { bytes }) => sum + bytes, owners.length * fileBytes) - groupBytes;
    for (const { name: file, path, bytes, session } of kept.toSorted((a, b) => a.writtenAt - b.writtenAt)) {
      if (excess <= 0) return;
      await publish({ type: "container-output.pruned", group, session, actor: "host", data: { file, bytes } });
      await rm(path, { force: true });
      excess -= bytes;
    }
  }

  async #keptOf(owner: Owner): Promise<Kept[]> {
    const folder = join(this.#options.folder, owner.session);
    const logs = fullLogsAmong(await namesIn(folder)).filter(({ isClosing }) => !isClosing);
    return Promise.all(
      logs.map(async ({ name }) => {
        const path = join(folder, name);
        const { size: bytes, mtimeMs: writtenAt } = await stat(path);
        return { ...owner, name, path, bytes, writtenAt };
      }),
    );
  }
}

/** A session that has never had a log has no folder. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
