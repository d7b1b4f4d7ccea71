import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type * as z from "zod";

import type { OutgoingMessage } from "../domain/chats/message.ts";
import { AppError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { DivertibleOutput } from "../lib/process/divertible-output.ts";
import type { Sleep } from "../lib/time/sleep.ts";
import type { ChannelStateStore } from "../stores/contract/store.ts";
import type { Channel, Connector } from "./channel.ts";

/** What a channel is like, known before it is opened; absent: no. */
export interface ChannelTraits {
  /** An emoji can be put on a message. */
  readonly reactions?: boolean | undefined;
  /** What the agent says aloud can be sent: people hear it, or get it as a file with the words. */
  readonly voice?: boolean | undefined;
  /** It tells which of the host's messages a member has put an emoji on: see `ChannelEvents.reacted`. */
  readonly hearsReactions?: boolean | undefined;
  /** What stands in a chat can be changed: while the agent works, one line says what it does. */
  readonly edits?: boolean | undefined;
  /**
   * A message can quote one of a member's, which people expect where others have come in between: see
   * `OutgoingMessage.quote`.
   */
  readonly quotes?: boolean | undefined;
  /**
   * It tells which of a group's agents says something; where a channel does not, what is said begins with the agent's
   * name.
   */
  readonly namesAgents?: boolean | undefined;
  /** A file that was sent is fetched when somebody likes to: its copy is kept for a day. */
  readonly fetchedLater?: boolean | undefined;
  /** Chats come by themselves: who mentions the agent in one that is no group asks the owner to make it one. */
  readonly onboards?: boolean | undefined;
  /** A chat is a name that a person types, so a group is also found by its own name. */
  readonly typedChats?: boolean | undefined;
  /**
   * Only the operator talks here: how often the agent is set to work has no limit but those that a group sets itself.
   */
  readonly operatorOnly?: boolean | undefined;
  /** It adds routes to the gateway, which therefore has to listen. */
  readonly gateway?: boolean | undefined;
  /** It talks through the streams of the host's process: it runs only where somebody started the host for that. */
  readonly console?: boolean | undefined;
  /** Somebody may have several ids there, which the channel learns: see `ChannelPorts.ids`. */
  readonly aliases?: boolean | undefined;
  /**
   * Every home has it, with the settings that `{}` gives where none are configured; its chat `main` is the first group.
   */
  readonly inEveryHome?: boolean | undefined;
}

/** The streams that somebody who started the host sits at, or a program. */
export interface HostConsole {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly error: NodeJS.WritableStream;
  /** Prints one JSON object per line instead of text. */
  readonly json: boolean;
  /** A person sits there: show a prompt and colours. */
  readonly interactive: boolean;
  /** What is logged there, which a prompt takes to print it above itself. */
  readonly logs?: Pick<DivertibleOutput, "divert"> | undefined;
  /** To be called for Ctrl-C, which a prompt reads as a key. */
  readonly onInterrupt?: (() => void) | undefined;
  /** To be called for each line that is refused for good, when the person has been told. */
  readonly onRefused?: (() => void) | undefined;
}

/** What goes out on this channel, for one whose readers fetch it. */
export interface OutgoingMessages {
  /** Messages with a higher `seq`, in order, whether sent or not. */
  after(seq: number, limit: number): Promise<readonly OutgoingMessage[]>;
  get(seq: number): Promise<OutgoingMessage | undefined>;
  /** The `seq` of those that ask people something which nobody has answered yet, the newest thousand, newest first. */
  awaited(): Promise<readonly number[]>;
}

/** Two ids of the same person on one channel. */
export interface SamePerson {
  readonly id: string;
  readonly alias: string;
}

/** What a channel tells, and may ask, about ids of the same person, in the form that messages carry. */
export interface KnownIds {
  /**
   * These are one person's, as the platform itself says: on disk when it resolves. What either was said to belong to
   * before is forgotten.
   */
  same(pairs: readonly SamePerson[]): Promise<void>;
  /** Ids that the configuration names and of which no other id is known. It is made anew each time. */
  open(): readonly string[];
  /** The platform says that nobody has another id for these. */
  none(ids: readonly string[]): void;
}

/** What a channel is opened with besides its settings. */
export interface ChannelPorts {
  /** Read it when it is needed: it may change while the host runs. */
  readonly assistantName: string;
  /** Id of this home, 16 hex digits. */
  readonly instance: string;
  /**
   * What the channel keeps over restarts. Spaces begin with the channel's name, alone or with `/` and more behind it.
   */
  readonly state: ChannelStateStore;
  readonly outgoing: OutgoingMessages;
  readonly ids: KnownIds;
  /**
   * Its chats that are groups at this moment, where chats are typed by the groups' names too; none before it is
   * started.
   */
  readonly chats: () => readonly string[];
  /** Those variables of the environment that the definition names. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly wait: Sleep;
  /** A number in 0..1. */
  readonly random: () => number;
  readonly logger: Logger;
  /**
   * The gateway, before it listens; whoever gets through it may do everything. Throws for a channel without the trait
   * `gateway`.
   */
  readonly routes: () => FastifyInstance;
  /** Throws for a channel without the trait `console`. */
  readonly console: () => HostConsole;
}

/** A kind of channel, as `channels.<name>` of the configuration names it. There is at most one of each kind. */
export interface ChannelDefinition<Settings = unknown> {
  readonly name: string;
  /** What may stand below `channels.<name>`; keys that it does not name are refused. */
  readonly config: z.ZodObject;
  readonly traits?: ChannelTraits | undefined;
  /** Variables of the host's environment that the channel needs to know. */
  readonly variables?: readonly string[] | undefined;
  /** Its keys and passwords by setting: they must not be seen in logs, records and chats. */
  secrets?(settings: Settings): Readonly<Record<string, string>>;
  /** What the operator should think about, in sentences without a full stop, for `doctor`. */
  remarks?(settings: Settings): readonly string[];
  /**
   * Why there cannot be a chat with this id, as the end of a sentence that begins with it; undefined: there may be one.
   * Left out: always.
   */
  judgeChat?(id: string): string | undefined;
  /** The same for the id of somebody who writes. */
  judgeSender?(id: string): string | undefined;
  /**
   * The id as messages carry it, of one that the configuration may write differently; left out: nothing is written
   * differently.
   */
  canonicalId?(id: string): string;
  /** The other way round: how people write this id; undefined: as it is. */
  writtenId?(id: string): string | undefined;
  /** Chats that are no group become one when somebody writes there. */
  registersChats?(settings: Settings): boolean;
  /**
   * Loads what the channel needs, and connects to nothing yet. Resolves with a `Connector` where a connection can be
   * lost: the host then connects and reconnects it. Called once; the host disposes the result.
   */
  open(settings: Settings, ports: ChannelPorts): Promise<Channel | Connector>;
}

/**
 * Describes a channel, so that it can be configured. Its module should load quickly: `open` imports the rest. Throws
 * `bad_input` for a name that cannot stand in the configuration.
 */
export function defineChannel<Config extends z.ZodObject>(
  definition: Omit<ChannelDefinition<z.output<Config>>, "config"> & { readonly config: Config },
): ChannelDefinition<z.output<Config>> {
  const { name } = definition;
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) return definition;
  throw new AppError("bad_input", `A channel cannot be called "${name}".`, {
    fix: "use lower case letters, digits, - and _, at most 64, starting with a letter or digit",
  });
}
