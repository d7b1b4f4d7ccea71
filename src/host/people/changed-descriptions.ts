import { randomInt } from "node:crypto";

import { ChangedDescriptions, type ChangedDescriptionsOptions } from "../../rights/approvals/changed-descriptions.ts";
import { hasTrait } from "../../config/adapters.ts";
import type { Group } from "../../domain/chats/group.ts";
import { readMcpLock } from "../../abilities/mcp/packages/lock-file.ts";
import { pinsOf } from "../../abilities/mcp/pins/pins.ts";
import { judgeCall } from "../../rights/policy/judge.ts";
import type { Mcp } from "../capabilities/mcp/mcp.ts";
import type { AppContext } from "../context.ts";

/**
 * Tools that describe themselves anew are for main groups to judge, as what they say is for agents of any group;
 * without one, for the operator.
 */
export function createChangedDescriptions(
  context: AppContext,
  options: Pick<ChangedDescriptionsOptions, "asked" | "deliver" | "isThere"> & {
    readonly groups: { readonly list: () => readonly Group[] };
    readonly mcp: Pick<Mcp, "allow">;
  },
): ChangedDescriptions {
  const { config, live, store, home, publish, forwardClock } = context;
  const { asked, deliver, isThere, groups, mcp } = options;
  return new ChangedDescriptions({
    store: store.approvals,
    settings: () => config.approvals,
    placeFor: (server, owner) => {
      const main = groups.list().find((group) => group.main);
      if (!main) return { group: owner ?? firstWith(live.current.groups, server), chat: undefined };
      const { name, channel, chat } = main;
      return { group: name, chat: { channel, chat, byThumb: hasTrait(context, channel, "hearsReactions") } };
    },
    wanted: (group, tool) => {
      const call = { tool, input: {}, risk: "high", role: "guest", origins: ["mcp"] } as const;
      const { quorum, approvers } = judgeCall(call, live.groupOf({ name: group }).policy).verdict;
      return { quorum, approvers };
    },
    isThere,
    allow: mcp.allow,
    pendingOf: async (server, name) => {
      const pins = pinsOf(await readMcpLock(home.paths.mcpLock), server);
      return Object.hasOwn(pins, name) ? pins[name]?.changed : undefined;
    },
    asked,
    publish,
    deliver,
    randomBelow: randomInt,
    clock: forwardClock,
  });
}

function firstWith(groups: AppContext["live"]["current"]["groups"], server: string): string {
  return Object.entries(groups).find(([, { mcp }]) => mcp.includes(server))?.[0] ?? "";
}
