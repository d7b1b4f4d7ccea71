import { mainAgent } from "../../domain/turns/session.ts";
import { agentNameOf } from "../configured/agents.ts";
import type { Adapters } from "../adapters.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";
import type { Config } from "../schema/config.ts";
import { missing } from "./missing.ts";
import { knownTools, unknownTool } from "./policy-checks.ts";

/** Agents, routes and tools that do not exist, and names that two agents would go by. */
export function checkAgents(config: Config, { tools }: Pick<Adapters, "tools">): ConfigFault[] {
  const names = knownTools(config, { tools });
  const routes = Object.keys(config.models.routes);
  const ofAgents = Object.entries(config.agents).flatMap(([id, agent]) => [
    ...(agent.route === undefined || routes.includes(agent.route)
      ? []
      : [missing(["agents", id, "route"], "route", agent.route, routes)]),
    ...(agent.tools ?? []).flatMap((name, index) => unknownTool(["agents", id, "tools", index], name, names)),
    ...(agent.permissions ?? []).flatMap(({ tool = "*" }, index) =>
      [tool]
        .flat()
        .filter((name) => name !== "*")
        .flatMap((name) => unknownTool(["agents", id, "permissions", index, "tool"], name, names)),
    ),
  ]);
  return [...ofAgents, ...checkNames(config), ...checkGroups(config)];
}

function checkNames(config: Config): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const known = new Map([[folded(config.assistant.name), mainAgent]]);
  for (const [id, { name }] of Object.entries(config.agents)) {
    const path = formatPath(["agents", id, "name"]);
    if (id === mainAgent) {
      if (name !== undefined)
        faults.push({ path, detail: "is not for this agent: it is called as assistant.name says" });
      continue;
    }
    const called = agentNameOf(config, id);
    const other = known.get(folded(called));
    if (other !== undefined) faults.push({ path, detail: `"${called}" is the name of agent ${other} already` });
    else known.set(folded(called), id);
  }
  return faults;
}

/** @Scout and @scout address the same agent. */
function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function checkGroups({ groups, agents }: Config): ConfigFault[] {
  const ids = [mainAgent, ...Object.keys(agents).filter((id) => id !== mainAgent)];
  return Object.entries(groups).flatMap(([name, { agent, agents: several = [] }]) => [
    ...(agent === undefined || ids.includes(agent) ? [] : [missing(["groups", name, "agent"], "agent", agent, ids)]),
    ...several.flatMap((id, index) =>
      ids.includes(id) ? [] : [missing(["groups", name, "agents", index], "agent", id, ids)],
    ),
    ...(agent !== undefined && several.length > 0
      ? [{ path: formatPath(["groups", name, "agent"]), detail: "cannot stand beside agents: leave out one of them" }]
      : []),
  ]);
}
