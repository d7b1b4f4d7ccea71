import * as z from "zod";

import type { ToolDefinition } from "../domain/turns/model.ts";
import { risks, type ToolPolicy } from "../domain/rights/policy.ts";
import type { WebAbilities } from "../domain/settings/web.ts";
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

/** Who tools are offered to: a group, as its settings, its channel and its models are now. */
export interface Audience {
  readonly policy: ToolPolicy;
  readonly channelCan: (ability: ChannelAbility) => boolean;
  /** Some model of the group's route can call tools. */
  readonly modelCallsTools: boolean;
  /** Some model of the group's route can be shown images. */
  readonly modelSees: boolean;
  /** The group remembers what is said. */
  readonly remembers?: boolean | undefined;
  /** The group is to have skills. */
  readonly hasSkills?: boolean | undefined;
  /** The only ones of them that the agent has; left out: all. */
  readonly skillNames?: readonly string[] | undefined;
  /** What the group can do on the web; left out: nothing. */
  readonly web?: WebAbilities | undefined;
  /** Something says aloud what the group's agents say. */
  readonly speaks?: boolean | undefined;
  /** The group's image has a browser. */
  readonly hasBrowser?: boolean | undefined;
  /** It is a main group. */
  readonly isMain?: boolean | undefined;
  /** The group's sessions may see others. */
  readonly seesSessions?: boolean | undefined;
  /** What the agent may by its session; left out: everything. */
  readonly rights?: ReadonlySet<SessionRight> | undefined;
}

/**
 * Why a tool is not for somebody: the policy denies whatever it is called with; the channel or the models cannot, or
 * cannot see; there are no other sessions to see; the group keeps no memories, has no skills, no browser, nothing that
 * speaks, or may not go to the web; an agent may not do this in its session; what the tool is a part of is not there.
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

/** What the channel must be able to do for this tool; undefined: nothing special. */
export function abilityOf(tool: Tool): ChannelAbility | undefined {
  return tool.runs === "host" ? tool.channelTrait : undefined;
}

/** The policy as it holds for this tool. */
export function policyFor(tool: Tool, policy: ToolPolicy): ToolPolicy {
  return asksAlways(tool) ? asAlwaysAsked(tool.name, policy) : policy;
}

/** Do people decide about each of its calls? */
export function asksAlways(tool: Tool): boolean {
  return tool.runs === "host" && tool.asksAlways;
}

interface Entry {
  readonly tool: Tool;
  /** Made when it is first offered: a schema takes long to put into JSON, and a start offers nothing yet. */
  readonly definition: () => ToolDefinition;
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

  /** Why the audience does not get this tool; undefined when it does. */
  withheld(tool: Tool, audience: Audience): Withheld | undefined {
    if (isAlwaysDenied(tool.name, possibleRisks(tool), policyFor(tool, audience.policy))) return "policy";
    if (isCommandTool(tool) && isAlwaysDenied(shellTool, risks, audience.policy)) return "policy";
    return lacksRight(tool, audience) ? "right" : withheldByAbility(tool, audience);
  }

  /** What the model is told of the tools that this audience gets, sorted by name. */
  offer(audience: Audience): readonly ToolDefinition[] {
    const entries = [...this.#entries.values()].filter(({ tool }) => this.withheld(tool, audience) === undefined);
    return entries.map(({ tool, definition }) =>
      audience.isMain === true && tool.runs === "host" && tool.mainDescription !== undefined
        ? { ...definition(), description: tool.mainDescription }
        : definition(),
    );
  }

  /** What the agent is told of the tools with these names; those that do not exist are left out. */
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

/** What the channel or the models cannot do, or what would find nothing. */
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

function lackingSkill({ skill }: CommandTool, { hasSkills = false, skillNames }: Audience): Withheld | undefined {
  return hasSkills && skillNames?.includes(skill) !== false ? undefined : "skills";
}

/** What a tool needs and the group does not have. */
function lackingIn(
  tool: HostTool | ContainerTool,
  { seesSessions, remembers, hasSkills, hasBrowser, speaks, web }: Audience,
): Withheld | undefined {
  if (tool.runs === "container") return tool.needsBrowser === true && hasBrowser !== true ? "browser" : undefined;
  const { needsSessions, needsMemory, needsSkills, needsSpeech, needsWeb } = tool;
  const lacks: readonly (readonly [Withheld, boolean | undefined, boolean | undefined])[] = [
    ["sessions", needsSessions, seesSessions],
    ["memory", needsMemory, remembers],
    ["skills", needsSkills, hasSkills],
    ["speech", needsSpeech, speaks],
    ["web", needsWeb !== undefined, needsWeb === "search" ? web?.searches : web?.fetches],
  ];
  return lacks.find(([, isNeeded, isThere]) => isNeeded === true && isThere !== true)?.[0];
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
  let definition: ToolDefinition | undefined;
  return {
    tool,
    definition: () => (definition ??= { name, description, inputSchema: tool.inputSchema ?? inputSchemaOf(tool) }),
    announced: announced.data,
  };
}

/** As callers write it: what has a default may be left out. */
function inputSchemaOf(tool: Tool): ToolDefinition["inputSchema"] {
  return slimSchema(z.toJSONSchema(tool.input, { io: "input" }));
}
