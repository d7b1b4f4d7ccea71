import { calledInput } from "../../rights/approvals/asking.ts";
import type { Approval } from "../../domain/rights/approval.ts";
import type { Group } from "../../domain/chats/group.ts";
import { groupAbilities } from "../../domain/settings/group-ability.ts";
import { agentOfSession } from "../../domain/turns/session.ts";
import { judgeToolCall } from "../../tools/judge-tool-call.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { isCommandTool } from "../../tools/skills/command-tool.ts";
import type { AppContext } from "../context.ts";
import { provenanceOf } from "../../rights/people/principal.ts";

/**
 * Finds the current policy rule that denies an asked call, judged by what its turn had read when it asked, without the
 * answer's own exposure.
 */
export function createDeniedBy(
  { live, store, roles }: Pick<AppContext, "live" | "store" | "roles">,
  options: {
    readonly registryOf: (group: Group) => Promise<ToolRegistry>;
    readonly groups: { readonly byName: (name: string) => Group | undefined };
  },
): (approval: Approval) => Promise<string | undefined> {
  const { registryOf, groups } = options;
  return async ({ group: name, session: asking, turn: id, tool, input, origins }) => {
    if (id === undefined || asking === undefined) return undefined;
    const [group, turn] = [groups.byName(name), await store.turns.get(id)];
    if (!group || !turn) return undefined;
    const session = await store.sessions.get(asking);
    const known = await provenanceOf({ origins: store.origins, roleOf: roles.roleOf }, group, turn);
    const provenance = { ...known, origins: origins ?? known.origins };
    // What channel and model can do was settled before people were asked.
    const able = { channelCan: () => true, modelCallsTools: true, modelSees: true, has: new Set(groupAbilities) };
    const audience = {
      ...able,
      policy: live.groupOf({ name, ...(session && { agent: agentOfSession(session) }) }).policy,
    };
    const place = { hasWritableMount: group.mounts.some(({ access }) => access === "rw") };
    const registry = await registryOf(group);
    const called = registry.get(tool);
    const isCommand = called !== undefined && isCommandTool(called);
    const call = { name: tool, input: calledInput(JSON.parse(input), isCommand) };
    const { verdict } = await judgeToolCall(call, { registry, audience, place, provenance });
    return verdict.action === "deny" ? verdict.rule : undefined;
  };
}
