import { join } from "node:path";

import type { GroupChat } from "../../src/domain/chats/group.ts";
import type { IncomingMessage, MessageState, OutgoingDraft } from "../../src/domain/chats/message.ts";
import type { NewSummary } from "../../src/domain/turns/summary.ts";
import type { NewStep, Store } from "../../src/stores/contract/store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ofMember } from "../support/lineages.ts";

/** Opens the store that lives at `path`; called again with the same path after the first one was disposed. */
export type OpenStore = (path: string) => Promise<Store>;

/** A store in a temporary folder that can be closed and opened again in the middle of a test. */
export async function restartableStore(open: OpenStore): Promise<Restartable> {
  const folder = await temporaryFolder();
  const path = join(folder.path, "home", "store");
  const restartable = {
    path,
    store: await open(path),
    async restart(): Promise<Store> {
      await restartable.store[Symbol.asyncDispose]();
      restartable.store = await open(path);
      return restartable.store;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await restartable.store[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
  return restartable;
}

export interface Restartable extends AsyncDisposable {
  readonly path: string;
  store: Store;
  /** Closes the store and opens it again from its files. */
  restart(): Promise<Store>;
}

export function say(id: string, more: Partial<IncomingMessage> = {}): IncomingMessage {
  return {
    channel: "terminal",
    chat: "chat",
    id,
    sender: { id: "ann", name: "Ann" },
    text: `text of ${id}`,
    mention: false,
    ...more,
  };
}

/** A group of this name whose chat is the one that everything is said in here. */
export function inChat(name: string): GroupChat {
  return { name, channel: "terminal", chat: "chat" };
}

export function step(text: string, takes?: NewStep["takes"]): NewStep {
  return { body: { kind: "user", text }, tokens: 7, at: 50, takes };
}

export function draft(text: string, more: Partial<OutgoingDraft> = {}): OutgoingDraft {
  return {
    group: "family",
    channel: "terminal",
    chat: "chat",
    kind: "reply",
    text,
    inReplyTo: ["1"],
    turn: undefined,
    ...more,
  };
}

export async function insert(
  store: Store,
  id: string,
  state: MessageState = "waiting",
  group = "family",
): Promise<number> {
  const { seq } = await store.messages.insert(say(id), { group, state, at: 10 });
  return seq;
}

/** A command that has to be carried out. */
export async function insertCommand(store: Store, id: string, command: string, group = "family"): Promise<number> {
  const { seq } = await store.messages.insert(say(id), { group, state: "handled", at: 10, command });
  return seq;
}

/** Ends what is under way and says nothing about it. */
export const stopping = {
  at: 95,
  stops: true,
  tell: () => ({ reason: "Stopped.", lastStep: step("stopped"), outgoing: [] }),
};

/** A turn's first step for messages of this chat. */
export const byMessage = {
  cause: "message",
  replyTo: { kind: "chat", channel: "terminal", chat: "chat" },
} as const;

/** A session with a running turn `t` that has taken the message `m`. */
export async function runningTurn(store: Store, id = "t"): Promise<{ session: string; message: number }> {
  const { id: session } = await store.sessions.open("agent:terminal:chat", "family");
  const message = await insert(store, `m-${id}`);
  const takes = { messages: [message], cursor: message, lineage: ofMember };
  await store.turns.begin(
    { id, session, group: "family", conversation: 1, ...byMessage, at: 20 },
    step("hello", takes),
  );
  return { session, message };
}

export const finished = { state: "done", at: 90, steps: [], outgoing: [] } as const;

/** A summary of these steps of a session's first conversation. */
export function summaryOf(session: string, fromStep: number, toStep: number, text = "summed up"): NewSummary {
  return { session, conversation: 1, kind: "summary", fromStep, toStep, text, tokens: 5, model: "a/b", madeAt: 60 };
}
