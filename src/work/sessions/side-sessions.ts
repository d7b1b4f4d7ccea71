import { rmdir } from "node:fs/promises";
import { join } from "node:path";

import type { Logger } from "pino";

import type { Session, SideSession } from "../../domain/turns/session.ts";
import { sideSessionKey } from "../../domain/turns/session.ts";
import type { NewWork } from "../../domain/work/work.ts";
import { errorCode, toError } from "../../lib/app-error.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { Store } from "../../stores/contract/store.ts";

export interface SideSessionsOptions {
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "open" | "archiveSettled" | "renew">;
    readonly work: Pick<Store["work"], "addAside">;
  };
  /** There is new work. */
  readonly workAdded: () => void;
  readonly pool: Pick<SessionPool, "retire">;
  /** Holds the folders of sessions. */
  readonly folder: string;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/**
 * The sessions beside the main ones of groups: opens them with work for them, and puts ephemeral ones aside when
 * nothing is left to be done in them. Whether a session is ephemeral, and whether it is settled, the store knows:
 * nothing is lost with the process.
 */
export class SideSessions implements AsyncDisposable {
  readonly #options: SideSessionsOptions;
  readonly #pending: PendingWork;

  constructor(options: SideSessionsOptions) {
    this.#options = options;
    this.#pending = new PendingWork((error) =>
      options.logger.error({ err: toError(error) }, "a session could not be archived; the next start retries"),
    );
  }

  /** The session, made if it is new. An ephemeral one is better opened with its work: see `give`. */
  open({ group, ...side }: SideSession): Promise<Session> {
    return this.#options.store.sessions.open(sideSessionKey(group, side), group.name, side);
  }

  /** Opens a session and gives it work, at once: it cannot be archived between the two. */
  async give(
    side: SideSession,
    work: Omit<NewWork, "group" | "session">,
  ): Promise<{ readonly session: string; readonly duplicate: boolean }> {
    const { store, workAdded, clock } = this.#options;
    const given = await store.work.addAside(work, side, clock.now());
    workAdded();
    return given;
  }

  /**
   * A new conversation; its container is ended with the old one. Rejects with `conflict` while a turn of the session
   * runs.
   */
  async renew(side: SideSession): Promise<Session> {
    const { id } = await this.open(side);
    await this.#options.store.sessions.renew(id);
    const renewed = await this.open(side);
    await this.#clear(renewed);
    return renewed;
  }

  /** A turn of this session has ended, or its work was dropped. */
  settled({ id, ephemeral }: Pick<Session, "id" | "ephemeral">): void {
    if (ephemeral === true) this.#pending.add(this.#archive(id));
  }

  /**
   * Archives what an earlier life of the host has left settled, those that worked for others first; the containers and
   * mailboxes of those are removed with all that are left over.
   */
  async resume(): Promise<void> {
    const { store, clock } = this.#options;
    while ((await store.sessions.archiveSettled(clock.now())).length > 0);
  }

  /** Waits for what is being archived. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#pending.done();
  }

  async #archive(id: string): Promise<void> {
    const { store, clock } = this.#options;
    for (const session of await store.sessions.archiveSettled(clock.now(), id)) {
      await this.#clear(session);
      if (session.parent !== undefined) await this.#archive(session.parent);
    }
  }

  /** Ends the container of an earlier generation, and removes its mailbox; other files in the session's folder stay. */
  async #clear(session: Session): Promise<void> {
    const { pool, folder } = this.#options;
    await pool.retire(session, "its work is settled");
    for (const name of ["mail", "."]) await removeEmpty(join(folder, session.id, name));
  }
}

async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(errorCode(error))) throw error;
  }
}
