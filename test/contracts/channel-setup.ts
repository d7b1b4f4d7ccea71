import { randomUUID } from "node:crypto";

import { expect } from "vitest";

import type { AcceptMessage, Channel } from "../../src/channels/channel.ts";
import type { IncomingMessage, OutgoingMessage, Sender } from "../../src/domain/chats/message.ts";

/** Something that a member says, as the other side of a channel sends it. */
interface Spoken {
  readonly group: string;
  readonly member: string;
  readonly text: string;
  /** Channels whose peers number their messages use it. */
  readonly id: string;
  /** With the trait `threads`. */
  readonly thread?: string;
}

/** An emoji that a member puts on what was sent under this number. */
export interface Reacting {
  readonly group: string;
  readonly member: string;
  readonly seq: number;
  readonly emoji: string;
  readonly id: string;
}

/** Drives the other end of the channel under test. */
export interface ChannelDriver extends AsyncDisposable {
  /** Not started. */
  readonly channel: Channel;
  /** The channel's ids of this group and this member. */
  chat(group: string): string;
  sender(member: string): Sender;
  /**
   * Sends these one after another and resolves when the channel has told the peer about the last one: received, or not.
   */
  say(spoken: readonly Spoken[]): Promise<readonly boolean[]>;
  /** Puts a reply where the peer can find it, if that is not `send` alone. */
  offer?(message: OutgoingMessage): void;
  /** Texts that the peer has got in the group `main`, in order. */
  heard(): Promise<readonly string[]>;
  /** With the trait `threads`: where each of them stood. */
  heardIn?(): Promise<readonly (string | undefined)[]>;
  /** With the trait `quotes`: the id of the message that each of them quotes. */
  heardQuoting?(): Promise<readonly (string | undefined)[]>;
  /**
   * With the trait `voice`: what can be heard of each thing that the peer has got in the group `main`; undefined: it is
   * written.
   */
  heardAloud?(): Promise<readonly (Buffer | undefined)[]>;
  /** With the trait `keeps`: calls this before a message is on disk, which waits for it. */
  beforeKept?(hook: () => Promise<void>): void;
  /**
   * With the trait `hearsReactions`: a member puts an emoji on a message of the host's (none: takes it back); true when
   * told "received".
   */
  react?(reaction: Reacting): Promise<boolean>;
  /** With the trait `connected`: cuts the connection, without a word. */
  cut?(): Promise<void>;
}

/** Traits of a channel that its peer notices; absent: no. */
export interface ContractTraits {
  /** The peer numbers its messages and may send one again. */
  readonly numbered?: boolean;
  /** It keeps a message itself, tells the peer "received", and only then hands it over. */
  readonly keeps?: boolean;
  /** It offers a message again that the host has no room for at the moment: the peer need not. */
  readonly offersAgain?: boolean;
  /** Messages can quote others. */
  readonly quotes?: boolean;
  /** Sends voice messages. */
  readonly voice?: boolean;
  /** Its chats have threads. */
  readonly threads?: boolean;
  /** Members can put an emoji on what the host has said. */
  readonly hearsReactions?: boolean;
  /** It is connected to something, and connects again when that is lost. */
  readonly connected?: boolean;
}

/** For channels on which groups and members are known by the names that people use. */
export const byName: Pick<ChannelDriver, "chat" | "sender"> = {
  chat: (group) => group,
  sender: (member) => ({ id: member, name: member }),
};

export function spoken(text: string): Spoken {
  return { group: "main", member: "you", text, id: randomUUID() };
}

export async function start({ channel }: ChannelDriver, accept: AcceptMessage): Promise<void> {
  await channel.start(accept);
  await expect.poll(() => channel.state().state).toBe("open");
}

/** Starts the channel with a host that takes everything. */
export async function collect(driver: ChannelDriver): Promise<IncomingMessage[]> {
  const accepted: IncomingMessage[] = [];
  await start(driver, async (message) => {
    accepted.push(message);
    return { outcome: "stored", duplicate: false };
  });
  return accepted;
}

export function reply(seq: number, text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    seq,
    group: "main",
    channel: "any",
    chat: "main",
    kind: "reply",
    text,
    inReplyTo: ["said-1"],
    turn: "turn-1",
    elapsedMs: 12.34,
    state: "sending",
    attempts: 1,
    createdAt: 0,
    ...more,
  };
}
