import type { GroupNetwork } from "../sandbox/egress.ts";
import type { HeartbeatSettings } from "../work/heartbeat.ts";
import type { McpServer } from "../sandbox/mcp-server.ts";
import type { ImageWish, PackageLists } from "../sandbox/packages.ts";
import type { Members } from "../people/person.ts";
import type { ReviewSettings } from "../rights/review.ts";
import type { ToolPolicy } from "../rights/policy.ts";
import type { Role } from "../people/role.ts";
import type { SessionVisibility } from "../turns/session.ts";
import type { SkillChoice } from "../sandbox/skill.ts";
import type { GroupWeb } from "./web.ts";

/**
 * Everything that is configured for a group and for the agent that works in it. It is made once per configuration and
 * never changes.
 */
export interface ResolvedGroup {
  readonly name: string;
  readonly agent: ResolvedAgent;
  /** Ids of the group's agents, the first one first. */
  readonly agents: readonly string[];
  /** IANA name of the time zone. */
  readonly timeZone: string;
  /** Rules for the tool calls of this agent. */
  readonly policy: ToolPolicy;
  readonly turns: TurnSettings;
  /** Bounds on background jobs of one session. */
  readonly jobs: { readonly atOnce: number; readonly seconds: number };
  /** Destinations that the group's containers can reach. */
  readonly network: GroupNetwork;
  /** Names of the groups that may have written to a folder which this group shares. */
  readonly writersOfShared: readonly string[];
  /** Packages and variants that the group's image is to have. */
  readonly image: ImageWish;
  /** Packages that are installed for the image; undefined: the group uses the agent image as it is. */
  readonly packages: PackageLists | undefined;
  readonly skills: SkillChoice;
  readonly web: GroupWeb;
  /** MCP servers that the group names. */
  readonly mcpServers: readonly McpServer[];
  /** True when memories are kept. */
  readonly remembers: boolean;
  /** True when something says aloud what the agent writes. */
  readonly speaks: boolean;
  /** Returns how changes in its mount with this target are decided, if it is one with review. */
  readonly reviewOf: (target: string) => ReviewSettings;
  /** Undefined: the agent never looks by itself. */
  readonly heartbeat: HeartbeatSettings | undefined;
  /** Other sessions that the group's sessions may see; undefined: none, and they have no tools for it. */
  readonly sessionVisibility: SessionVisibility | undefined;
  readonly progress: ProgressSettings;
  /** Roles in the group; undefined: none are configured. */
  readonly members: Members | undefined;
  /** Least role that may set the agent to work. */
  readonly triggerRole: Role;
  /** Keys of people who are not heard in the group. */
  readonly denied: readonly string[];
}

/** An agent as it is configured. One that is no longer configured goes by its id and may use no tools. */
export interface ResolvedAgent {
  readonly id: string;
  /** Name that people call it by. */
  readonly name: string;
  /** Instructions of the operator, for all groups of this agent. */
  readonly instructions: string | undefined;
  /** The only skills of the group that it has; undefined: all. */
  readonly skills: readonly string[] | undefined;
  /** Route of models for all of its sessions, in place of the group's; undefined: the group's. */
  readonly route: string | undefined;
}

/** Bounds on the turns of a group. */
export interface TurnSettings {
  /** Maximum model answers in one turn; 0: no limit. */
  readonly maxSteps: number;
  readonly timeoutMs: number;
  /** Time that the tools of a turn may run while other groups wait for a place. */
  readonly holdMs: number;
  /** Longest silence of an agent: after a message that it must react to at once, and after pings. */
  readonly silenceMs: number;
  /** Messages older than this are not answered after an absence. */
  readonly catchUpMinutes: number;
}

/** Signs of a turn's progress that a chat gets. */
export interface ProgressSettings {
  /** 0: never. */
  readonly afterSeconds: number;
  readonly reactions: boolean;
  /** True when the line can be replaced, and so shows the answer while it is written. */
  readonly answers: boolean;
  /** True when the group wants it although each line is a separate message. */
  readonly isAsked: boolean;
}

/** Returns the route for the group's sessions of a kind; undefined: the default route. */
export function routeFor(
  { agent, heartbeat }: Pick<ResolvedGroup, "agent" | "heartbeat">,
  group: { readonly model: string | undefined },
  kind: string,
): string | undefined {
  return agent.route ?? (kind === "heartbeat" ? heartbeat?.route : undefined) ?? group.model;
}
