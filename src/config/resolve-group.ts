import type { Group } from "../domain/chats/group.ts";
import type { ToolPolicy } from "../domain/rights/policy.ts";
import type { ResolvedGroup } from "../domain/settings/resolved-group.ts";
import { agentNameOf, agentOf } from "./configured/agents.ts";
import { entryOf, firstAgent } from "./resolve/entry.ts";
import {
  imageWishOf,
  mcpServersOf,
  packagesOf,
  progressOf,
  reviewSettingsOf,
  sessionVisibilityOf,
  skillsOf,
  speaksFor,
  timezoneOf,
} from "./resolve/group-values.ts";
import { heartbeatOf } from "./resolve/heartbeat.ts";
import { networkOf, writersOfShared } from "./resolve/network.ts";
import { deniedIn, membersOf, triggerRole } from "./resolve/people.ts";
import { policyOf } from "./resolve/policy.ts";
import { turnSettingsOf } from "./resolve/turns.ts";
import { webOf } from "./resolve/web.ts";
import type { Config } from "./schema/config.ts";

/** A group to resolve; one added at run time is found by its name. */
export type GroupReference = Pick<Group, "name"> & Partial<Pick<Group, "agent" | "main">>;

const known = new WeakMap<Config, Map<string, ResolvedGroup>>();

/** Returns everything that is configured for a group with this agent at work (by default its first one). */
export function resolveGroup(config: Config, group: GroupReference): ResolvedGroup {
  // A configuration that can change is resolved each time.
  if (!Object.isFrozen(config)) return resolve(config, group);
  const ofConfig = known.get(config) ?? new Map<string, ResolvedGroup>();
  const key = `${group.name} ${group.agent ?? ""} ${group.main === true}`;
  const resolved = ofConfig.get(key) ?? resolve(config, group);
  known.set(config, ofConfig.set(key, resolved));
  return resolved;
}

/** Returns the rules for groups that set none themselves. */
export function sharedPolicy({ policy }: Pick<Config, "policy">): ToolPolicy {
  return policyOf({ policy, groups: {}, agents: {} }, "");
}

function resolve(config: Config, { name, agent: wanted, main }: GroupReference): ResolvedGroup {
  const entry = entryOf(config, name);
  const id = wanted ?? firstAgent(entry ?? {});
  const agent = agentOf(config, id);
  const { jobs } = config.limits;
  return {
    name,
    agent: {
      id,
      name: agentNameOf(config, id),
      instructions: agent?.instructions,
      skills: agent?.skills,
      route: undefined,
    },
    agents: entry?.agents ?? [firstAgent(entry ?? {})],
    timeZone: timezoneOf(config, name),
    policy: policyOf(config, name, id),
    turns: turnSettingsOf(config, name),
    jobs: { atOnce: jobs.perSession, seconds: Math.ceil(jobs.hours * 3_600) },
    network: networkOf(config, name),
    writersOfShared: writersOfShared(config, name),
    image: imageWishOf(config, name),
    packages: packagesOf(config, name),
    skills: skillsOf(config, name),
    web: webOf(config, name),
    mcpServers: mcpServersOf(config, name),
    remembers: config.memory.enabled,
    speaks: speaksFor(config, name),
    reviewOf: (target) => reviewSettingsOf(config, name, target),
    heartbeat: heartbeatOf(config, name),
    sessionVisibility: sessionVisibilityOf(config, { main: main ?? entry?.main ?? false }),
    progress: progressOf(config, name),
    members: membersOf(config, name),
    triggerRole: triggerRole(config, name),
    denied: deniedIn(config, name),
  };
}
