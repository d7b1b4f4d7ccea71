import type { ToolPolicy } from "../../domain/rights/policy.ts";
import { modelsOfRoute } from "../../models/knowledge/capabilities.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import type { Adapters } from "../adapters.ts";
import { agentOf } from "../configured/agents.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";
import { firstAgent } from "../resolve/entry.ts";
import { heartbeatOf } from "../resolve/heartbeat.ts";
import { sharedPolicy } from "../resolve-group.ts";
import { policyOf } from "../resolve/policy.ts";
import type { Config } from "../schema/config.ts";

const denyAll = '{ rules: [{ tool: "*", action: deny }] }';

/** Agents that work by a route, and their tools. */
interface Worker {
  readonly route: string;
  /** Display name. */
  readonly who: string;
  readonly policy: ToolPolicy;
  /** Configuration that removes all tools. */
  readonly none: string;
}

/**
 * Entries of routes whose models cannot call tools, where agents work by the route that have tools: an agent without
 * those that its instructions, skills and members count on says that it does things and does not do them. Who is to
 * chat only denies all tools, and is asked nothing more.
 */
export function checkToolCalls(config: Config, adapters: Pick<Adapters, "tools">): readonly ConfigFault[] {
  const faults = new Map<string, ConfigFault>();
  for (const worker of workersOf(config)) {
    const models = modelsOfRoute(config.models, worker.route);
    if (models.every(({ capability }) => capability.tools) || !hasTools(worker.policy, adapters)) continue;
    const others = models.some(({ capability }) => capability.tools);
    for (const [index, { reference, capability }] of models.entries()) {
      const path = formatPath(["models", "routes", worker.route, index]);
      if (!capability.tools && !faults.has(path)) faults.set(path, faultOf(worker, { path, reference, others }));
    }
  }
  return [...faults.values()];
}

function faultOf(
  { who, none }: Worker,
  { path, reference, others }: { readonly path: string; readonly reference: string; readonly others: boolean },
): ConfigFault {
  const can = `models.capabilities[${JSON.stringify(reference)}].tools`;
  const detail = others
    ? `${reference} cannot call tools, so it is never asked: ${who} works by this route, and has tools`
    : `${reference} cannot call tools, and no other model of this route can: ${who} works by it, and has tools`;
  const instead = others ? "Take it out of the route, name" : "Name";
  return {
    path,
    detail,
    fix: `${instead} a model that can, set ${can} to true if it can after all, or say that there are to be no tools: ${none}`,
  };
}

/** True when the policy allows some tool. */
function hasTools(policy: ToolPolicy, adapters: Pick<Adapters, "tools">): boolean {
  const registry = new ToolRegistry(adapters.tools);
  const audience = { policy, channelCan: () => true, modelCallsTools: true, modelSees: true };
  return registry.tools.some((tool) => registry.withheld(tool, audience) !== "policy");
}

/** Groups with each of their agents, heartbeats, agents that others may have work for them, and who comes later. */
function workersOf(config: Config): readonly Worker[] {
  const { models, groups, agents } = config;
  const ofGroups = Object.entries(groups).flatMap(([name, group]) => {
    const first = firstAgent(group);
    const looking = heartbeatOf(config, name)?.route;
    const routes = (group.agents ?? [first]).map(
      (id) => [id, group.model ?? agentOf(config, id)?.route ?? models.default] as const,
    );
    return [...routes, ...(looking === undefined ? [] : [[first, looking] as const])].map(([id, route]) => ({
      route,
      who: `group ${name}`,
      policy: policyOf(config, name, id),
      none: `${formatPath(["groups", name, "policy"])}: ${denyAll}`,
    }));
  });
  const ofAgents = Object.entries(agents).flatMap(([id, { route }]) =>
    route === undefined
      ? []
      : [
          {
            route,
            who: `agent ${id}`,
            policy: policyOf(config, "", id),
            none: `${formatPath(["agents", id, "tools"])}: []`,
          },
        ],
  );
  // A chat that becomes a group at run time has the default route and the policy for everybody.
  const later = { route: models.default, who: "a group", policy: sharedPolicy(config), none: `policy: ${denyAll}` };
  const isUsed = ofGroups.some(({ route }) => route === models.default);
  return [...ofGroups, ...ofAgents, ...(isUsed ? [] : [later])];
}
