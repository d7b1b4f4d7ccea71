import * as z from "zod";

import type { GroupAbility } from "../domain/settings/group-ability.ts";
import type { Origin } from "../domain/people/origin.ts";
import type { OfferedTool, ToolDefinition } from "../domain/turns/model.ts";
import { risks, type ToolPolicy } from "../domain/rights/policy.ts";
import { AppError } from "../lib/app-error.ts";
import { asAlwaysAsked } from "../rights/policy/always-asked.ts";
import { isAlwaysDenied } from "../rights/policy/judge.ts";
import { limits } from "../protocol/limits.ts";
import { announcedTool } from "../protocol/tools.ts";
import type { AnnouncedTool } from "../protocol/tools.ts";
import type { Tool } from "./catalog.ts";
import type { ContainerTool } from "../../container/agent/tools/tool.ts";
import type { ChannelAbility, HostTool } from "./define-tool.ts";
import { possibleRisks } from "./risk.ts";
import { type CommandTool, isCommandTool, shellTool } from "./skills/command-tool.ts";
import { findingTools } from "./finding/finding-tools.ts";
import type { SessionRight } from "./sessions/session-rights.ts";
import { slimSchema } from "./slim-schema.ts";

/** Audience of tools: a group with its settings, channel and models. */
export interface Audience {
  readonly policy: ToolPolicy;
  readonly channelCan: (ability: ChannelAbility) => boolean;
  /** Some model of the group's route can call tools. */
  readonly modelCallsTools: boolean;
  /** Some model of the group's route can be shown images. */
  readonly modelSees: boolean;
  /** Abilities of the group; none by default. */
  readonly has?: ReadonlySet<GroupAbility> | undefined;
  /** Skills that the agent has; all by default. */
  readonly skillNames?: readonly string[] | undefined;
  /** True for a main group. */
  readonly isMain?: boolean | undefined;
  /** Session rights of the agent; all by default. */
  readonly rights?: ReadonlySet<SessionRight> | undefined;
}

/**
 * Reason for withholding a tool: denied by policy for every input; unsupported by the channel or the models; no other
 * sessions to see; no memory, skills, browser, speech or web access; no right in this session; a missing part.
 */
export type Withheld =
  | "policy"
  | "channel"
  | "model"
  | "vision"
  | "sessions"
  | "memory"
  | "skills"
  | "web"
  | "browser"
  | "speech"
  | "right"
  | "plugin";

/** Channel ability that this tool needs; undefined: none. */
export function abilityOf(tool: Tool): ChannelAbility | undefined {
  return tool.runs === "host" ? tool.channelTrait : undefined;
}

/** The policy as it holds for this tool. */
export function policyFor(tool: Tool, policy: ToolPolicy): ToolPolicy {
  return asksAlways(tool) ? asAlwaysAsked(tool.name, policy) : policy;
}

/** True when people decide about each of its calls. */
export function asksAlways(tool: Tool): boolean {
  return tool.runs === "host" && tool.asksAlways;
}

interface Entry {
  readonly tool: Tool;
  /** Made when it is first offered: a schema takes long to put into JSON, and a start offers nothing yet. */
  readonly definition: () => OfferedTool;
  readonly announced: AnnouncedTool;
}

/** All tools of a host, from wherever they come, by name. */
export class ToolRegistry {
  readonly #entries: ReadonlyMap<string, Entry>;
  /** Names of those that a source has for some groups. */
  readonly added: ReadonlySet<string>;

  /**
   * Throws AppError `config_invalid` for a name that two tools have, and for a tool that cannot be announced to the
   * agent.
   */
  constructor(...sources: readonly (readonly Tool[])[]) {
    const tools = sources.flat().toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const double = tools.find(({ name }, index) => tools[index + 1]?.name === name);
    if (double) throw new AppError("config_invalid", `Two tools have the name ${double.name}; rename one of them.`);
    if (tools.length > limits.tools)
      throw new AppError("config_invalid", `There are ${tools.length} tools; at most ${limits.tools} are possible.`);
    this.#entries = new Map(tools.map((tool) => [tool.name, entryOf(tool)]));
    this.added = new Set();
  }

  /** With more tools. One whose name is taken, and what is beyond the most that are possible, is left out. */
  joinedBy(more: readonly Tool[]): ToolRegistry {
    if (more.length === 0) return this;
    const byName = new Map(more.toReversed().map((tool) => [tool.name, tool]));
    const finding = findingTools.filter(({ name }) => !this.#entries.has(name));
    const taken = new Set([...this.#entries.keys(), ...finding.map(({ name }) => name)]);
    const others = [...byName.values()].filter(({ name }) => !taken.has(name));
    const kept = others.slice(0, Math.max(0, limits.tools - taken.size));
    const joined = new ToolRegistry(this.tools, finding, kept);
    return Object.assign(joined, { added: new Set(kept.map(({ name }) => name)) });
  }

  /** Sorted by name. */
  get tools(): readonly Tool[] {
    return [...this.#entries.values()].map(({ tool }) => tool);
  }

  get(name: string): Tool | undefined {
    return this.#entries.get(name)?.tool;
  }

  /** Returns why the audience does not get this tool; undefined when it does. */
  withheld(tool: Tool, audience: Audience): Withheld | undefined {
    if (isAlwaysDenied(tool.name, possibleRisks(tool), policyFor(tool, audience.policy))) return "policy";
    if (isCommandTool(tool) && isAlwaysDenied(shellTool, risks, audience.policy)) return "policy";
    return lacksRight(tool, audience) ? "right" : withheldByAbility(tool, audience);
  }

  /** Definitions of the tools that this audience gets, sorted by name. */
  offer(audience: Audience): readonly OfferedTool[] {
    const entries = [...this.#entries.values()].filter(({ tool }) => this.withheld(tool, audience) === undefined);
    return entries.map(({ tool, definition }) =>
      audience.isMain === true && tool.runs === "host" && tool.mainDescription !== undefined
        ? { ...definition(), description: tool.mainDescription }
        : definition(),
    );
  }

  /** Announcements of these tools; unknown names are left out. */
  announce(names: readonly string[]): AnnouncedTool[] {
    const entries = names.flatMap((name) => this.#entries.get(name) ?? []);
    const own = entries.filter(({ tool }) => !isCommandTool(tool));
    const shell = this.#entries.get(shellTool);
    // Of a tool that is a command it is told none but what runs it.
    const runsCommands = own.length < entries.length && shell !== undefined && !names.includes(shellTool);
    return [...own, ...(runsCommands ? [shell] : [])].map(({ announced }) => announced);
  }
}

function lacksRight(tool: Tool, { rights }: Audience): boolean {
  return tool.runs === "host" && tool.right !== undefined && rights?.has(tool.right) === false;
}

/** Checks abilities of channel and models, and whether the tool would find anything. */
function withheldByAbility(tool: Tool, audience: Audience): Withheld | undefined {
  const { channelCan, modelCallsTools, modelSees } = audience;
  const ability = abilityOf(tool);
  if (ability !== undefined && !channelCan(ability)) return "channel";
  if (!modelCallsTools) return "model";
  if (tool.runs === "host" && tool.isAway?.() === true) return "plugin";
  const lacking = isCommandTool(tool) ? lackingSkill(tool, audience) : lackingIn(tool, audience);
  if (lacking !== undefined) return lacking;
  return tool.needsVision === true && !modelSees ? "vision" : undefined;
}

function lackingSkill({ skill }: CommandTool, { has, skillNames }: Audience): Withheld | undefined {
  return has?.has("skills") === true && skillNames?.includes(skill) !== false ? undefined : "skills";
}

/** Returns why a group that lacks the ability which the tool requires does not get it. */
function lackingIn({ requires }: HostTool | ContainerTool, { has }: Audience): Withheld | undefined {
  if (requires === undefined || has?.has(requires) === true) return undefined;
  return requires === "fetch" || requires === "search" ? "web" : requires;
}

/** By tool: where a budget is set, a start makes two registries of the same tools. */
const entries = new WeakMap<Tool, Entry>();

function entryOf(tool: Tool): Entry {
  const entry = entries.get(tool) ?? toEntry(tool);
  entries.set(tool, entry);
  return entry;
}

function toEntry(tool: Tool): Entry {
  const { name, description, runs, timeoutSeconds } = tool;
  const resolvePaths = tool.runs === "host" ? [...tool.resolvePaths] : [];
  const announced = announcedTool.safeParse({ name, runs, timeoutSeconds, resolvePaths });
  if (!announced.success) {
    const { path = [], message = "" } = announced.error.issues[0] ?? {};
    throw new AppError(
      "config_invalid",
      `The tool ${JSON.stringify(name)} cannot be used: ${path.join(".")}: ${message}.`,
    );
  }
  let definition: OfferedTool | undefined;
  return {
    tool,
    definition: () =>
      (definition ??= {
        name,
        description,
        inputSchema: tool.inputSchema ?? inputSchemaOf(tool),
        origins: originsOfWords(tool),
      }),
    announced: announced.data,
  };
}

/** A server's words about its tools are read by nobody; a skill's are of whoever wrote it. */
function originsOfWords(tool: Tool): readonly Origin[] {
  if (isCommandTool(tool)) return tool.origins;
  return tool.runs === "host" && tool.server !== undefined ? ["mcp"] : [];
}

/** Input schema for callers: fields with a default are optional. */
function inputSchemaOf(tool: Tool): ToolDefinition["inputSchema"] {
  return slimSchema(z.toJSONSchema(tool.input, { io: "input" }));
}
