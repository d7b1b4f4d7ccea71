import { type Lineage, unknownLineage } from "../../../domain/rights/lineage.ts";
import type { Logger } from "pino";

import { agentNamedBy, type Group, workFolder } from "../../../domain/chats/group.ts";
import type { OutgoingMessage, StoredMessage } from "../../../domain/chats/message.ts";
import { memberKey } from "../../../domain/people/person.ts";
import type { Role } from "../../../domain/people/role.ts";
import { type Addressee, addresseeOf, agentOfSession, isAddressee, mainAgent } from "../../../domain/turns/session.ts";
import type { Publish } from "../../../domain/events/event.ts";
import { AppError, isPassing, toError } from "../../../lib/app-error.ts";
import { PendingWork } from "../../../lib/pending-work.ts";
import { Timers } from "../../../lib/time/timers.ts";
import type { Store } from "../../../stores/contract/store.ts";
import { ownIds } from "../item.ts";
import type { MemoryAt } from "../thread/memory-client.ts";
import type { MemoryFaults } from "./faults.ts";
import { isSecret } from "./secrets.ts";
import type { NewMemory, ReaderStanding } from "../../../processes/memory-schemas.ts";

export interface MemoryWriterOptions {
  readonly store: {
    readonly messages: Pick<Store["messages"], "following">;
    readonly turns: Pick<Store["turns"], "get">;
    readonly sessions: Pick<Store["sessions"], "get">;
    readonly outbox: Pick<Store["outbox"], "saidIn">;
    readonly origins: Pick<Store["origins"], "lineage">;
  };
  /** Groups that remember what is said. */
  readonly groups: () => readonly Group[];
  /** The group as it is with each of its agents, the first one first. */
  readonly withEachAgent: (group: Group) => readonly Group[];
  /** By the name of the folder in which its agent works. */
  readonly memoryOf: (folder: string) => MemoryAt;
  readonly roleOf: (group: Group, who: { readonly channel: string; readonly id: string }) => Role;
  readonly agentNameOf: (group: Group) => string;
  /** A number that says nothing of other groups, the same each time. */
  readonly idOf: (row: string) => string;
  /** Everything that was said so far is kept in the memory of this agent of the group; how it stands now. */
  readonly kept: (group: Group, standing: ReaderStanding) => void;
  /** Is told what a memory could not do. */
  readonly faults: Pick<MemoryFaults, "failed" | "worked">;
  readonly publish: Publish<"memory.kept">;
  readonly logger: Logger;
}

const rowsAtOnce = 200;
const restMs = 1_000;
const retryMs = 60_000;
/** Maximum characters kept of a text. */
const mostTextChars = 16_000;

/**
 * Adds what members and agents say in a group to its memory, in order and independent of turns. Of several agents, each
 * remembers its own conversation; other messages go to the first. Progress is stored in the memory's file, so nothing
 * is added twice or lost, across crashes.
 */
export class MemoryWriter implements AsyncDisposable {
  readonly #options: MemoryWriterOptions;
  /** By group: something was said, while it was at work or before. */
  readonly #said = new Set<string>();
  readonly #working = new Map<string, Promise<void>>();
  /** By group: it is looked at in a moment. */
  readonly #stirred = new Set<string>();
  readonly #timers = new Timers();
  readonly #pending: PendingWork;
  #isOver = false;

  constructor(options: MemoryWriterOptions) {
    this.#options = options;
    this.#pending = new PendingWork((error) =>
      options.logger.error({ err: toError(error) }, "what was said could not be remembered"),
    );
  }

  /**
   * Something may have been said in this group: it is kept a moment later, so as not to be in the way of the turn that
   * it may begin.
   */
  said(group: string): void {
    if (this.#stirred.has(group)) return;
    this.#stirred.add(group);
    this.#timers.after(restMs, () => {
      this.#stirred.delete(group);
      this.#keepSoon(group);
    });
  }

  /** Keeps all that was said in this group until now. Never rejects: what fails is kept later. */
  async keep(name: string): Promise<void> {
    if (this.#isOver) return;
    this.#said.add(name);
    const working = this.#working.get(name) ?? this.#begin(name);
    await working.catch(() => undefined);
  }

  #keepSoon(group: string): void {
    if (this.#isOver) return;
    this.#said.add(group);
    if (!this.#working.has(group)) void this.#begin(group);
  }

  #begin(group: string): Promise<void> {
    const working = this.#work(group).finally(() => this.#working.delete(group));
    this.#working.set(group, working);
    this.#pending.add(working);
    return working;
  }

  /** All groups, such as after a start. */
  all(): void {
    for (const { name } of this.#options.groups()) this.#keepSoon(name);
  }

  /** Stops; the rest follows after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#timers[Symbol.dispose]();
    await this.#pending.done();
  }

  async #work(name: string): Promise<void> {
    while (this.#said.delete(name)) {
      const group = this.#options.groups().find((known) => known.name === name);
      if (!group) return;
      for (const acting of this.#options.withEachAgent(group)) await this.#keepFor(acting);
    }
  }

  /** Keeps going when one agent's memory fails. */
  async #keepFor(group: Group): Promise<void> {
    const { faults, kept: told, logger } = this.#options;
    try {
      const standing = await this.#keepAll(group);
      faults.worked(workFolder(group));
      if (!this.#isOver) told(group, standing);
    } catch (error) {
      if (this.#isOver) throw error;
      // What is missing by then is taken in with the first message after it was repaired.
      if (!isPassing(error)) return faults.failed(workFolder(group), toError(error));
      const about = { err: toError(error), group: group.name, memory: workFolder(group), retryInMs: retryMs };
      logger.warn(about, "what was said cannot be remembered at the moment");
      this.#timers.after(retryMs, () => this.said(group.name));
    }
  }

  async #keepAll(group: Group): Promise<ReaderStanding> {
    const { store, memoryOf, publish } = this.#options;
    const memory = memoryOf(workFolder(group));
    const addressee = group.agents && addresseeOf(group, group.agent ?? mainAgent);
    for (let at = await memory.standing(); ;) {
      const messages = await store.messages.following(group, at.messages, rowsAtOnce, {
        copies: addressee !== undefined,
      });
      const replies = await store.outbox.saidIn(group, at.replies, rowsAtOnce);
      if ((messages.length === 0 && replies.length === 0) || this.#isOver) return at;
      const said = [
        ...saidTo(addressee, messages).flatMap((message) => this.#ofMember(group, message)),
        ...(await this.#ofAgent(group, await this.#saidBy(addressee, replies))),
      ];
      const progress = { messages: messages.at(-1)?.seq ?? 0, replies: replies.at(-1)?.seq ?? 0 };
      at = await memory.advance(
        said.toSorted((one, other) => one.time - other.time),
        { progress },
      );
      if (said.length > 0)
        await publish({
          type: "memory.kept",
          group: group.name,
          actor: "host",
          data: { count: said.length, ...agentNamedBy(workFolder(group)) },
        });
    }
  }

  /** Attributes messages of pruned turns to the first agent. */
  async #saidBy(
    addressee: Addressee | undefined,
    replies: readonly OutgoingMessage[],
  ): Promise<readonly OutgoingMessage[]> {
    if (!addressee) return replies;
    const { turns, sessions } = this.#options.store;
    const own: OutgoingMessage[] = [];
    for (const reply of replies) {
      const turn = reply.turn === undefined ? undefined : await turns.get(reply.turn);
      const session = turn && (await sessions.get(turn.session));
      if (isAddressee(addressee, session && agentOfSession(session))) own.push(reply);
    }
    return own;
  }

  /** Message of a member; the people whose words it passes on are unknown. */
  #ofMember(group: Group, message: StoredMessage): NewMemory[] {
    const { channel, sender, forwarded, pruned, sentAt, receivedAt, id } = message;
    const who = { channel, id: sender.id };
    const role = this.#options.roleOf(group, who);
    if (pruned === true) return [];
    return kept({
      // A copy is the same message.
      id: saidId(this.#options.idOf, "message", message.copyOf ?? message.seq),
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

  /** Origins and people of an answer: everything that its turn had read. */
  async #behind(turn: string | undefined): Promise<Pick<Lineage, "origins" | "people">> {
    if (turn === undefined) return { origins: [], people: [] };
    try {
      return await this.#options.store.origins.lineage(turn);
    } catch (error) {
      // A turn that is not kept anymore.
      if (error instanceof AppError && error.code === "not_found") return unknownLineage;
      throw error;
    }
  }
}

/** `addressee` is undefined where the group has one agent: everything is for it. */
function saidTo(addressee: Addressee | undefined, messages: readonly StoredMessage[]): readonly StoredMessage[] {
  return addressee ? messages.filter(({ agent }) => isAddressee(addressee, agent)) : messages;
}

/** Id of the memory of something that was said. */
export function saidId(idOf: MemoryWriterOptions["idOf"], kind: "message" | "reply", seq: number): string {
  return `${ownIds.said}${idOf(`${kind} ${seq}`)}`;
}

/** Nothing for what is no text, and for what looks like a secret. */
function kept(memory: NewMemory): NewMemory[] {
  if (memory.text.trim() === "" || isSecret(memory.text)) return [];
  return [{ ...memory, text: memory.text.slice(0, mostTextChars).toWellFormed(), sender: memory.sender.slice(0, 256) }];
}
