import { lineageOfTurn } from "../rights/people/lineage-of-turn.ts";
import { calledInput } from "../rights/approvals/asking.ts";
import type { Group } from "../domain/chats/group.ts";
import type { Approval } from "../domain/rights/approval.ts";
import { stakesOf } from "../domain/rights/stakes.ts";
import type { ResolvedGroup } from "../domain/settings/resolved-group.ts";
import { groupAbilities } from "../domain/settings/group-ability.ts";
import { agentOfSession } from "../domain/turns/session.ts";
import type { RoleOf } from "../rights/people/roles.ts";
import type { Store } from "../stores/contract/store.ts";
import { judgeToolCall } from "./judge-tool-call.ts";
import type { ToolRegistry } from "./registry.ts";
import { isCommandTool } from "./skills/command-tool.ts";

export interface DeniedNowOptions {
  readonly store: Pick<Store, "origins" | "sessions" | "turns">;
  readonly groups: { byName(name: string): Group | undefined };
  readonly registryOf: (group: Group) => Promise<ToolRegistry>;
  /** Settings of a group, or of one of its agents, as they are now. */
  readonly settingsOf: (group: {
    readonly name: string;
    readonly agent?: string;
  }) => Pick<ResolvedGroup, "policy" | "network">;
  readonly roleOf: RoleOf;
}

/**
 * Finds the current policy rule that denies a call for which an approval is open. It is judged by what its turn had
 * read when people were asked, without the exposure of the answer itself.
 */
export function createDeniedNow(options: DeniedNowOptions): (approval: Approval) => Promise<string | undefined> {
  const { store, groups, registryOf, settingsOf, roleOf } = options;
  return async ({ group: name, session: asking, turn: id, tool, input, origins }) => {
    if (id === undefined || asking === undefined) return undefined;
    const [group, turn] = [groups.byName(name), await store.turns.get(id)];
    if (!group || !turn) return undefined;
    const session = await store.sessions.get(asking);
    const known = await lineageOfTurn({ origins: store.origins, roleOf }, group, turn);
    const provenance = { ...known, origins: origins ?? known.origins };
    // The abilities of channel and model were judged before people were asked.
    const able = { channelCan: () => true, modelCallsTools: true, modelSees: true, has: new Set(groupAbilities) };
    const { policy, network } = settingsOf({ name, ...(session && { agent: agentOfSession(session) }) });
    const audience = { ...able, policy };
    const stakes = stakesOf(group.mounts, network);
    const registry = await registryOf(group);
    const called = registry.get(tool);
    const isCommand = called !== undefined && isCommandTool(called);
    const call = { name: tool, input: calledInput(JSON.parse(input), isCommand) };
    const { verdict } = await judgeToolCall(call, { registry, audience, stakes, provenance });
    return verdict.action === "deny" ? verdict.rule : undefined;
  };
}
