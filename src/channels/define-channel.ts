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

/** Static traits of a channel; absent means no. */
export interface ChannelTraits {
  /** Supports emoji reactions to messages. */
  readonly reactions?: boolean | undefined;
  /** Sends voice messages: as sound, or as a file with the words. */
  readonly voice?: boolean | undefined;
  /** Reports members' reactions to the host's messages: see `ChannelEvents.reacted`. */
  readonly hearsReactions?: boolean | undefined;
  /** Can edit a message: one line shows the agent's current activity. */
  readonly edits?: boolean | undefined;
  /** Can quote a member's message: see `OutgoingMessage.quote`. */
  readonly quotes?: boolean | undefined;
  /** Names the speaking agent of a group; on other channels messages begin with the agent's name. */
  readonly namesAgents?: boolean | undefined;
  /** Readers fetch files later: copies are kept for a day. */
  readonly fetchedLater?: boolean | undefined;
  /** New chats appear on their own; a mention in an unknown chat asks the owner to admit it. */
  readonly onboards?: boolean | undefined;
  /** Chats are typed names: a group is also found by its own name. */
  readonly typedChats?: boolean | undefined;
  /** Only the operator talks here: no limit on turns but the group's own. */
  readonly operatorOnly?: boolean | undefined;
  /** Adds routes to the gateway, which therefore must listen. */
  readonly gateway?: boolean | undefined;
  /** Uses the streams of the host's process: opened only when the host was started for that. */
  readonly console?: boolean | undefined;
  /** People may have several ids, which the channel learns: see `ChannelPorts.ids`. */
  readonly aliases?: boolean | undefined;
  /** Present in every home, with the settings of `{}` when unconfigured; its chat `main` is the first group. */
  readonly inEveryHome?: boolean | undefined;
}

/** Streams of the person or program that started the host. */
export interface HostConsole {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly error: NodeJS.WritableStream;
  /** Prints one JSON object per line instead of text. */
  readonly json: boolean;
  /** A person sits there: show a prompt and colours. */
  readonly interactive: boolean;
  /** Log output, which a prompt diverts to print above itself. */
  readonly logs?: Pick<DivertibleOutput, "divert"> | undefined;
  /** Called for Ctrl-C, which a prompt reads as a key. */
  readonly onInterrupt?: (() => void) | undefined;
  /** Called for each refused line, after the person was told. */
  readonly onRefused?: (() => void) | undefined;
}

/** Outgoing messages of a channel whose readers fetch them. */
export interface OutgoingMessages {
  /** Messages with a higher `seq`, in order, whether sent or not. */
  after(seq: number, limit: number): Promise<readonly OutgoingMessage[]>;
  get(seq: number): Promise<OutgoingMessage | undefined>;
  /** The newest thousand `seq` in a chat, newest first, and before them those of the channel's unanswered questions. */
  sentTo(chat: string): Promise<readonly number[]>;
}

/** Two ids of the same person on one channel. */
export interface SamePerson {
  readonly id: string;
  readonly alias: string;
}

/** A channel's reports and questions about ids of the same person, in the form used by messages. */
export interface KnownIds {
  /**
   * These are one person's, as the platform itself says: on disk when it resolves. What either was said to belong to
   * before is forgotten.
   */
  same(pairs: readonly SamePerson[]): Promise<void>;
  /** Ids in the configuration without a known alias. Computed on each call. */
  open(): readonly string[];
  /** Reports that these ids have no alias on the platform. */
  none(ids: readonly string[]): void;
}

/** Ports of a channel, besides its settings. */
export interface ChannelPorts {
  /** Read it when it is needed: it may change while the host runs. */
  readonly assistantName: string;
  /** Id of this home, 16 hex digits. */
  readonly instance: string;
  /** State kept over restarts. Spaces are named like the channel, optionally followed by `/` and more. */
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
   * The gateway before it listens; whoever passes its authentication has full access. Throws without the trait
   * `gateway`.
   */
  readonly routes: () => FastifyInstance;
  /** Throws for a channel without the trait `console`. */
  readonly console: () => HostConsole;
}

/** A kind of channel, as `channels.<name>` of the configuration names it. There is at most one of each kind. */
export interface ChannelDefinition<Settings = unknown> {
  readonly name: string;
  /** Schema of `channels.<name>`; unknown keys are refused. */
  readonly config: z.ZodObject;
  readonly traits?: ChannelTraits | undefined;
  /** Environment variables of the host that the channel needs. */
  readonly variables?: readonly string[] | undefined;
  /** Keys and passwords by setting, to hide in logs, records and chats. */
  secrets?(settings: Settings): Readonly<Record<string, string>>;
  /** Advice for the operator in `doctor`, as sentences without a full stop. */
  remarks?(settings: Settings): readonly string[];
  /**
   * Returns why no chat can have this id, as the end of a sentence; undefined when valid. Any id is valid by default.
   */
  judgeChat?(id: string): string | undefined;
  /** The same for a sender's id. */
  judgeSender?(id: string): string | undefined;
  /** Normalizes an id from the configuration to the form used by messages; unchanged by default. */
  canonicalId?(id: string): string;
  /** Returns an id as people write it; undefined when unchanged. */
  writtenId?(id: string): string | undefined;
  /** True when unknown chats become groups as soon as somebody writes there. */
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
