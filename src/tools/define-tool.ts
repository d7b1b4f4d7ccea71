import type * as z from "zod";

import type { OutgoingDraft, OutgoingFile, StoredMessage } from "../domain/message.ts";
import type { BlobPart, Part } from "../domain/part.ts";
import type { MemoryPort } from "./memory/memory-port.ts";
import type { SkillPort } from "./skills/skill-port.ts";
import type { SessionDesk } from "./sessions/session-desk.ts";
import type { SessionRight } from "./sessions/session-rights.ts";
import type { TaskPort } from "./tasks/task-port.ts";
import { parseToolInput } from "../protocol/tools.ts";
import type { ToolFacts, ToolOutput } from "../protocol/tools.ts";

/** What a tool can say in the group's chat. `text` is a file's caption, and empty for a reaction. */
export type Said = Pick<OutgoingDraft, "text" | "file" | "reaction">;

/** What capabilities of the host can do for tools, each a port of its own; `src/wiring/capabilities/tool-ports.ts` makes them. */
export interface CapabilityPorts {
  readonly tasks: TaskPort;
  /** The sub-agents of the session that calls. Each throws ToolError with what is wrong. */
  readonly subAgents: SubAgentPort;
  /** What the group remembers; undefined where it does not. Tools that need this are offered only where it does. */
  readonly memory?: MemoryPort | undefined;
  /** The group's skills; undefined where it is to have none. Tools that need this are offered only where it has some. */
  readonly skills?: SkillPort | undefined;
}

/** What an agent can do with its sub-agents once they are there; each answers in words for the model. */
export interface SubAgentPort {
  status(id: string | undefined): Promise<string>;
  message(id: string, text: string): Promise<string>;
  cancel(id: string): Promise<string>;
}

/** What the host can do for its tools. A tool names what it needs and gets nothing else. */
export interface ToolPorts extends CapabilityPorts {
  /** The text as it may go to the chat: without what the model marked as internal, and without secrets. May be empty. */
  readonly redact: (text: string) => string;
  /** Sends something to the group's chat. A turn has only so many calls of tools that need this. */
  readonly send: (said: Said) => Promise<void>;
  /** Copies a file of the group, given by its path in the container, for sending. Throws ToolError with what is wrong with it. */
  readonly keepFile: (path: string) => Promise<OutgoingFile>;
  /** Keeps the bytes of an image, for a part of the result. Throws ToolError with what is wrong with them. */
  readonly keepImage: (content: Uint8Array, name: string) => Promise<BlobPart>;
  /** Sessions that the turn's own may see. Tools that need this are offered only where it may see some. */
  readonly sessions: SessionDesk;
  /** The newest message that the turn answers. */
  readonly lastMessage: () => Promise<StoredMessage | undefined>;
  /** What has become of the change of a file that this call proposed. Throws ToolError where nothing was changed. */
  readonly changeOutcome: () => Promise<string>;
}

/** Ports as they are handed over: which capabilities there are is not every caller's business. */
type GivenPorts = Omit<ToolPorts, keyof CapabilityPorts> & Partial<CapabilityPorts>;

/** The result of a call: text, and what comes behind it. */
export interface HostToolOutput extends ToolOutput {
  readonly parts?: readonly Part[] | undefined;
}

/** What every tool may know of the call. */
export interface HostCall {
  readonly group: string;
  readonly turn: string;
  /** Aborted when the turn ends or the tool's time is over. */
  readonly signal: AbortSignal;
}

/** A tool that runs in the host. What it is given comes from the model, and through it from anybody: it is hostile. */
export interface HostTool extends ToolFacts {
  readonly runs: "host";
  /** Fields of the input that are paths in the container, which the agent resolves; all others are taken from the model's own call. */
  readonly resolvePaths: readonly string[];
  /** Offered only where the group's channel can do this. */
  readonly channelTrait: ChannelAbility | undefined;
  /** People decide about each call of it, unless a rule denies it. */
  readonly asksAlways: boolean;
  /** What main groups are told of it in place of its description. */
  readonly mainDescription: string | undefined;
  /** Works with what the group remembers. */
  readonly needsMemory: boolean;
  /** Works with the group's skills. */
  readonly needsSkills: boolean;
  /** Looks at other sessions. */
  readonly needsSessions: boolean;
  /** What an agent must be allowed to by its session; undefined: nothing special. */
  readonly right: SessionRight | undefined;
  /** Sends something, so that its calls are counted. */
  readonly sends: boolean;
  /** Throws ToolError for input that does not fit, and what the tool throws. */
  run(input: unknown, place: GivenPorts & HostCall): Promise<string | HostToolOutput>;
}

/** What a tool may want of a channel. */
export type ChannelAbility = "reactions";

/** What the author of a tool writes. */
interface HostToolDefinition<Schema extends z.ZodObject, Need extends keyof ToolPorts> extends ToolFacts<Schema> {
  readonly runs: "host";
  readonly needs?: readonly Need[];
  readonly resolvePaths?: readonly (keyof z.infer<Schema> & string)[];
  readonly channelTrait?: ChannelAbility;
  readonly asksAlways?: boolean;
  readonly mainDescription?: string;
  readonly right?: SessionRight;
  /** `input` fits. Throws ToolError with words for the model; anything else that it throws is logged, and told as "failed". */
  run(input: z.infer<Schema>, place: Pick<ToolPorts, Need> & HostCall): Promise<string | HostToolOutput>;
}

export function defineTool<Schema extends z.ZodObject, Need extends keyof ToolPorts = never>(
  definition: HostToolDefinition<Schema, Need>,
): HostTool {
  const { needs = [], risk, resolvePaths = [], channelTrait, right } = definition;
  return {
    name: definition.name,
    description: definition.description,
    input: definition.input,
    timeoutSeconds: definition.timeoutSeconds,
    activity: definition.activity,
    runs: "host",
    needsVision: definition.needsVision === true,
    risk: typeof risk === "string" ? risk : (input) => risk(input as z.infer<Schema>),
    resolvePaths,
    channelTrait,
    asksAlways: definition.asksAlways === true,
    mainDescription: definition.mainDescription,
    needsMemory: (needs as readonly string[]).includes("memory"),
    needsSkills: (needs as readonly string[]).includes("skills"),
    needsSessions: (needs as readonly string[]).includes("sessions"),
    right,
    sends: (needs as readonly string[]).includes("send"),
    run: async (input, { group, turn, signal, ...ports }) => {
      const needed = Object.fromEntries(needs.map((need) => [need, ports[need]])) as unknown as Pick<ToolPorts, Need>;
      return definition.run(parseToolInput(definition, input), { group, turn, signal, ...needed });
    },
  };
}
