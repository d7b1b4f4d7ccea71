import type { Logger } from "pino";

import type { Group } from "../../domain/group.ts";
import type { OutgoingMessage, StoredMessage } from "../../domain/message.ts";
import type { Origin } from "../../domain/origin.ts";
import { memberKey } from "../../domain/person.ts";
import type { Role } from "../../domain/role.ts";
import type { Publish } from "../../events/event.ts";
import { AppError, isPassing, toError } from "../../lib/app-error.ts";
import { PendingWork } from "../../lib/pending-work.ts";
import { Timers } from "../../lib/time/timers.ts";
import type { Store } from "../../stores/store.ts";
import { type NewMemory, ownIds } from "../item.ts";
import type { MemoryAt } from "../thread/memory-desk.ts";
import type { Standing } from "../thread/orders.ts";
import type { MemoryFaults } from "./faults.ts";
import { isSecret } from "./secrets.ts";

export interface KeeperOptions {
  readonly store: {
    readonly messages: Pick<Store["messages"], "following">;
    readonly outbox: Pick<Store["outbox"], "saidIn">;
    readonly origins: Pick<Store["origins"], "provenance">;
  };
  /** Groups that remember what is said. */
  readonly groups: () => readonly Group[];
  readonly memoryOf: (group: string) => MemoryAt;
  readonly roleOf: (group: Group, who: { readonly channel: string; readonly id: string }) => Role;
  readonly agentNameOf: (group: Group) => string;
  /** A number that says nothing of other groups, the same each time. */
  readonly idOf: (row: string) => string;
  /** Everything that was said so far is kept; how it stands now. */
  readonly kept: (group: Group, standing: Standing) => void;
  /** Is told what a memory could not do. */
  readonly faults: Pick<MemoryFaults, "failed" | "worked">;
  readonly publish: Publish<"memory.kept">;
  readonly logger: Logger;
}

const rowsAtOnce = 200;
const restMs = 1_000;
const retryMs = 60_000;
/** What is longer is kept up to here. */
const mostTextChars = 16_000;

/**
 * Makes what members and the agent say in a group its memory, in the order of the store and behind the back of turns. How far it has
 * come stands in the file of the memory itself and moves with what was added, so nothing is added twice or left out, whatever dies when.
 */
export class MemoryKeeper implements AsyncDisposable {
  readonly #options: KeeperOptions;
  /** By group: something was said, while it was at work or before. */
  readonly #said = new Set<string>();
  readonly #working = new Set<string>();
  /** By group: it is looked at in a moment. */
  readonly #stirred = new Set<string>();
  readonly #timers = new Timers();
  readonly #pending: PendingWork;
  #isOver = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#pending = new PendingWork((error) =>
      options.logger.error({ err: toError(error) }, "what was said could not be remembered"),
    );
  }

  /** Something may have been said in this group: it is kept a moment later, so as not to be in the way of the turn that it may begin. */
  said(group: string): void {
    if (this.#stirred.has(group)) return;
    this.#stirred.add(group);
    this.#timers.after(restMs, () => {
      this.#stirred.delete(group);
      this.#keepSoon(group);
    });
  }

  #keepSoon(group: string): void {
    if (this.#isOver) return;
    this.#said.add(group);
    if (this.#working.has(group)) return;
    this.#working.add(group);
    this.#pending.add(this.#work(group).finally(() => this.#working.delete(group)));
  }

  /** All groups, such as after a start. */
  all(): void {
    for (const { name } of this.#options.groups()) this.#keepSoon(name);
  }

  /** What is not kept by then is kept after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#timers[Symbol.dispose]();
    await this.#pending.done();
  }

  async #work(name: string): Promise<void> {
    while (this.#said.delete(name)) {
      const group = this.#options.groups().find((known) => known.name === name);
      if (!group) return;
      try {
        const standing = await this.#keepAll(group);
        this.#options.faults.worked(name);
        if (!this.#isOver) this.#options.kept(group, standing);
      } catch (error) {
        if (this.#isOver) throw error;
        // What is missing by then is taken in with the first message after it was repaired.
        if (!isPassing(error)) return this.#options.faults.failed(name, toError(error));
        const about = { err: toError(error), group: name, retryInMs: retryMs };
        this.#options.logger.warn(about, "what was said cannot be remembered at the moment");
        this.#timers.after(retryMs, () => this.said(name));
      }
    }
  }

  async #keepAll(group: Group): Promise<Standing> {
    const { store, memoryOf, publish } = this.#options;
    const memory = memoryOf(group.name);
    for (let at = await memory.standing(); ;) {
      const messages = await store.messages.following(group, at.messages, rowsAtOnce);
      const replies = await store.outbox.saidIn(group, at.replies, rowsAtOnce);
      if ((messages.length === 0 && replies.length === 0) || this.#isOver) return at;
      const said = [
        ...messages.flatMap((message) => this.#ofMember(group, message)),
        ...(await this.#ofAgent(group, replies)),
      ];
      const progress = { messages: messages.at(-1)?.seq ?? 0, replies: replies.at(-1)?.seq ?? 0 };
      at = await memory.advance(
        said.toSorted((one, other) => one.time - other.time),
        { progress },
      );
      if (said.length > 0)
        await publish({ type: "memory.kept", group: group.name, actor: "host", data: { count: said.length } });
    }
  }

  /** Whose words it passes on is not known. */
  #ofMember(group: Group, message: StoredMessage): NewMemory[] {
    const { channel, sender, forwarded, pruned, sentAt, receivedAt, id } = message;
    const who = { channel, id: sender.id };
    const role = this.#options.roleOf(group, who);
    if (pruned === true) return [];
    return kept({
      id: saidId(this.#options.idOf, "message", message.seq),
      category: "conversation",
      text: message.text,
      time: sentAt ?? receivedAt,
      sender: sender.name,
      origin: forwarded === true ? "guest" : role,
      origins: forwarded === true ? [role] : [],
      sources: [id.slice(0, 256)],
      people: [memberKey(who)],
    });
  }

  async #ofAgent(group: Group, replies: readonly OutgoingMessage[]): Promise<NewMemory[]> {
    const { agentNameOf, idOf } = this.#options;
    const made: NewMemory[] = [];
    for (const { seq, text, createdAt, turn } of replies) {
      const { origins, people } = await this.#behind(turn);
      const id = saidId(idOf, "reply", seq);
      const base = { id, category: "conversation", text, time: createdAt, sender: agentNameOf(group) };
      made.push(...kept({ ...base, origin: "agent", origins, sources: [], people }));
    }
    return made;
  }

  /** An answer may hold whatever its turn had read, and words of those whom it answers. */
  async #behind(turn: string | undefined): Promise<{ readonly origins: readonly Origin[]; readonly people: string[] }> {
    if (turn === undefined) return { origins: [], people: [] };
    try {
      const { origins, senders } = await this.#options.store.origins.provenance(turn);
      return { origins, people: senders.map(memberKey) };
    } catch (error) {
      // A turn that is not kept any more.
      if (error instanceof AppError && error.code === "not_found") return { origins: [], people: [] };
      throw error;
    }
  }
}

/** Id of the memory of something that was said. */
export function saidId(idOf: KeeperOptions["idOf"], kind: "message" | "reply", seq: number): string {
  return `${ownIds.said}${idOf(`${kind} ${seq}`)}`;
}

/** Nothing for what is no text, and for what looks like a secret. */
function kept(memory: NewMemory): NewMemory[] {
  if (memory.text.trim() === "" || isSecret(memory.text)) return [];
  return [{ ...memory, text: memory.text.slice(0, mostTextChars).toWellFormed(), sender: memory.sender.slice(0, 256) }];
}
