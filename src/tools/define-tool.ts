import type * as z from "zod";

import type { GroupAbility } from "../domain/settings/group-ability.ts";
import type { FilledForm, FormRequest } from "../domain/rights/form.ts";
import type { OutgoingDraft, OutgoingFile, StoredMessage } from "../domain/chats/message.ts";
import type { VoiceMessage } from "../domain/settings/speech.ts";
import type { Origin } from "../domain/people/origin.ts";
import type { Part } from "../domain/chats/part.ts";
import type { Sourced } from "../domain/rights/sourced.ts";
import type { ResultPort } from "./results/result-port.ts";
import type { SessionService } from "./sessions/session-service.ts";
import type { SessionRight } from "./sessions/session-rights.ts";
import type { GivenPage } from "../protocol/pages.ts";
import { parseToolInput } from "../protocol/tools.ts";
import type { ToolFacts } from "../protocol/tools.ts";

/** A tool's message to the group's chat. `text` is a file's caption, and empty for a reaction. */
export type Said = Pick<OutgoingDraft, "text" | "file" | "reaction">;

/**
 * Capabilities of the host for tools, each its own port.
 */
export interface CapabilityPorts {
  /** Earlier results that the model no longer sees. */
  readonly results: ResultPort;
  readonly askForm: FormPort;
  /** Gives the port that the ability of this name made for the call. */
  readonly ability: (name: string) => Promise<unknown>;
}

/**
 * Asks the people of the turn's chat what a server wants to know. Rejects with words for the server where they are not
 * asked.
 */
export type FormPort = (form: FormRequest, signal: AbortSignal) => Promise<FilledForm>;

/** Ports of the host for its tools. A tool names the ports that it needs and gets no others. */
export interface ToolPorts extends CapabilityPorts {
  /**
   * The text as it may go to the chat: without what the model marked as internal, and without secrets. May be empty.
   */
  readonly redact: (text: string) => string;
  /** Sends a message to the group's chat. Such calls are limited per turn. */
  readonly send: (said: Said) => Promise<void>;
  /**
   * Copies a file of the group, given by its path in the container, for sending. Throws ToolError with what is wrong
   * with it.
   */
  readonly keepFile: (path: string) => Promise<OutgoingFile>;
  /** Keeps what was said aloud, for sending. Throws ToolError where there is no room. */
  readonly keepVoice: (said: VoiceMessage) => Promise<OutgoingFile>;
  /** Keeps the bytes of an image, for a part of the result. Throws ToolError with what is wrong with them. */
  readonly keepImage: (content: Uint8Array, name: string) => Promise<Part>;
  /**
   * Puts a file where only the agent can read it. Gives its name there, and where the model finds it; throws ToolError
   * where its container is gone.
   */
  readonly giveFile: (content: Uint8Array, extension: string) => Promise<GivenFile>;
  /** Sessions that the turn's own may see. Tools that need this are offered only where it may see some. */
  readonly sessions: SessionService;
  /** The newest message that the turn answers. */
  readonly lastMessage: () => Promise<StoredMessage | undefined>;
  /** Tools that the model is not shown. */
  readonly otherTools: { readonly find: (query: string) => Sourced };
  /** Tells people who wait how far the call is, in words that may come from outside. */
  readonly tellProgress: (text: string) => void;
  /** Outcome of the file change that this call proposed. Throws ToolError when nothing was changed. */
  readonly changeOutcome: (words: ChangeWords) => Promise<Sourced>;
}

/** Sentences for the model about a change that it proposed. */
export interface ChangeWords {
  /** The changed thing, as the beginning of a sentence. */
  readonly thing: string;
  /** Sentences for a change that was written. */
  readonly written: Sourced;
}

/** A file of the host's in the agent's container. */
export interface GivenFile {
  readonly name: string;
  readonly path: string;
}

/** Ports as they are handed over: which capabilities there are is not every caller's business. */
type GivenPorts = Omit<ToolPorts, keyof CapabilityPorts> & Partial<CapabilityPorts>;

/** The result of a call: text, and what comes behind it, which has the tool's own origin. */
export interface HostToolOutput {
  /** Its origins count as read by the turn before the model sees it. */
  readonly output: Sourced;
  readonly isError: boolean;
  readonly parts?: readonly Part[] | undefined;
  /** A page whose text the agent appends to the output. */
  readonly page?: GivenPage | undefined;
}

/** A text alone is the output of a call that went well. */
export function toHostToolOutput(result: Sourced | HostToolOutput): HostToolOutput {
  return "output" in result ? result : { output: result, isError: false };
}

/** Facts about the call for every tool. */
export interface HostCall {
  readonly group: string;
  readonly turn: string;
  /** Aborted when the turn ends or the tool's time is over. */
  readonly signal: AbortSignal;
}

/** Settings of a tool that has some. */
interface ToolSettings<Config extends z.ZodObject> {
  /** Settings by its `config`; those of a plugin come from `plugins.<name>.settings`. */
  readonly settings: z.output<Config>;
}

/** A tool that runs in the host. What it is given comes from the model, and through it from anybody: it is hostile. */
export interface HostTool extends ToolFacts {
  readonly runs: "host";
  /** Origin that its results add to a turn besides the host's; none for crabpot's own tools, `tool` otherwise. */
  readonly origin?: Origin | undefined;
  /** MCP server of the tool. */
  readonly server?: string | undefined;
  /** Ability of the tool. */
  readonly ability?: string | undefined;
  /**
   * Fields of the input that are paths in the container, which the agent resolves; all others are taken from the
   * model's own call.
   */
  readonly resolvePaths: readonly string[];
  /** Offered only where the group's channel can do this. */
  readonly channelTrait: ChannelAbility | undefined;
  /** People decide about each call of it, unless a rule denies it. */
  readonly asksAlways: boolean;
  /** Description for main groups. */
  readonly mainDescription: string | undefined;
  /** Puts files into the container, where running programs may keep them. */
  readonly givesFiles?: boolean | undefined;
  /** Session right that it needs; undefined: none. */
  readonly right: SessionRight | undefined;
  /** Sends something, so that its calls are counted. */
  readonly sends: boolean;
  /** Ability of the group without which it is not offered; undefined: none. */
  readonly requires?: GroupAbility | undefined;
  /** Ports that it needs, for documentation. */
  readonly needs?: readonly (keyof ToolPorts)[] | undefined;
  /** Settings schema of a plugin's tool. */
  readonly config?: z.ZodObject | undefined;
  /** True while the tool is unavailable because a part is missing. */
  readonly isAway?: (() => boolean) | undefined;
  /** Runs a call. Throws ToolError for invalid input, and the tool's own errors. */
  run(
    input: unknown,
    place: GivenPorts & HostCall & { readonly settings?: unknown },
  ): Promise<Sourced | HostToolOutput>;
}

/** Ability of a channel that a tool may need. */
export type ChannelAbility = "reactions" | "voice";

/** Definition by a tool's author. */
interface HostToolDefinition<
  Schema extends z.ZodObject,
  Need extends keyof ToolPorts,
  Config extends z.ZodObject,
> extends ToolFacts<Schema> {
  readonly runs: "host";
  /** Schema of its settings; none by default. */
  readonly config?: Config;
  readonly needs?: readonly Need[];
  readonly resolvePaths?: readonly (keyof z.infer<Schema> & string)[];
  readonly channelTrait?: ChannelAbility;
  readonly asksAlways?: boolean;
  readonly mainDescription?: string;
  readonly origin?: Origin | undefined;
  readonly server?: string | undefined;
  readonly right?: SessionRight;
  /** By default the ability that is behind one of its ports. */
  readonly requires?: GroupAbility;
  /**
   * `input` fits. Throws ToolError with words for the model; anything else that it throws is logged, and told as
   * "failed".
   */
  run(
    input: z.infer<Schema>,
    place: Pick<ToolPorts, Need> & HostCall & ToolSettings<Config>,
  ): Promise<Sourced | HostToolOutput>;
}

export function defineTool<
  Schema extends z.ZodObject,
  Need extends keyof ToolPorts = never,
  Config extends z.ZodObject = z.ZodObject,
>(definition: HostToolDefinition<Schema, Need, Config>): HostTool {
  const { needs = [], risk, resolvePaths = [], channelTrait, right, config } = definition;
  return {
    name: definition.name,
    description: definition.description,
    input: definition.input,
    inputSchema: definition.inputSchema,
    timeoutSeconds: definition.timeoutSeconds,
    activity: definition.activity,
    runs: "host",
    needsVision: definition.needsVision === true,
    risk: typeof risk === "string" ? risk : (input) => risk(input as z.infer<Schema>),
    resolvePaths,
    channelTrait,
    asksAlways: definition.asksAlways === true,
    mainDescription: definition.mainDescription,
    origin: definition.origin,
    server: definition.server,
    givesFiles: (needs as readonly string[]).includes("giveFile"),
    requires: definition.requires ?? requiredBy(needs),
    right,
    sends: (needs as readonly string[]).includes("send"),
    needs,
    config,
    run: async (input, { group, turn, signal, settings = {}, ...ports }) => {
      const needed = Object.fromEntries(needs.map((need) => [need, ports[need]])) as unknown as Pick<ToolPorts, Need>;
      const own = (config ? { settings: config.parse(settings) } : {}) as ToolSettings<Config>;
      return definition.run(parseToolInput(definition, input), { group, turn, signal, ...own, ...needed });
    },
  };
}

/** Abilities of groups that are behind ports. */
const behindPorts: { readonly [Port in keyof ToolPorts]?: GroupAbility } = {
  sessions: "sessions",
};

function requiredBy(needs: readonly (keyof ToolPorts)[]): GroupAbility | undefined {
  return needs.map((need) => behindPorts[need]).find((ability) => ability !== undefined);
}

/** A tool of an ability, which works with the port that its ability makes for each call. */
export interface AbilityTool<in Port> {
  /** The tool as that of the ability of this name. */
  of(ability: string): HostTool;
  /** Only says which port it takes. */
  readonly takes?: (port: Port) => void;
}

/** Defines a tool of an ability: `defineAbilityTool<Port>()({ … })`. `run` gets the port as `port`. */
export function defineAbilityTool<Port>() {
  return <Schema extends z.ZodObject, Need extends keyof ToolPorts = never>({
    run,
    ...definition
  }: Omit<HostToolDefinition<Schema, Need, z.ZodObject>, "run" | "config"> & {
    readonly run: (
      input: z.infer<Schema>,
      place: Pick<ToolPorts, Need> & HostCall & { readonly port: Port },
    ) => Promise<Sourced | HostToolOutput>;
  }): AbilityTool<Port> => ({
    of: (ability) => ({
      ...defineTool<Schema, Need | "ability">({
        ...definition,
        needs: [...(definition.needs ?? []), "ability"],
        // The ability and its tools agree on the port: `defineAbility` takes none of another.
        run: async (input, place) => run(input, { ...place, port: (await place.ability(ability)) as Port }),
      }),
      ability,
    }),
  });
}
