import { randomInt } from "node:crypto";

import { ApprovalDesk } from "../approvals/approval-desk.ts";
import { createAsk } from "../approvals/asking.ts";
import { hasTrait } from "../config/adapters.ts";
import type { Asker } from "../domain/approval.ts";
import type { Group } from "../domain/group.ts";
import { isAtLeast, type Role } from "../domain/role.ts";
import type { QueuedSession } from "../queue/session-queue.ts";
import type { TurnOptions } from "../turns/turn-options.ts";
import type { AppContext } from "./context.ts";

/** What somebody is in a group, by the channel's id of theirs. */
export type RoleOf = (group: Group, sender: { readonly channel: string; readonly id: string }) => Role;

export interface Approvals {
  readonly desk: ApprovalDesk;
  readonly forTurns: Pick<TurnOptions, "askPeople" | "asked">;
  readonly roleOf: RoleOf;
}

/** How people are asked about calls, and what becomes of their answers. */
export function createApprovals(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: { readonly wake: (queued: QueuedSession) => void; readonly deliver: () => void },
): Approvals {
  const { config, store, clock, publish, logger } = context;
  const roleOf = createRoleOf(context);
  const desk = stack.use(
    new ApprovalDesk({
      store: store.approvals,
      wake: async ({ session, group }) => {
        const found = (await store.sessions.list()).find(({ id }) => id === session);
        if (found) options.wake({ session: found.key, group });
      },
      deliver: options.deliver,
      publish,
      clock,
      logger,
    }),
  );
  const askPeople = createAsk({
    settings: () => config.approvals,
    askerOf: (group, turn) => askerOf(context, { group, turn, roleOf }),
    isThere: (group, role) => isAtLeast(roleOf(group, { channel: group.channel, id: "" }), role),
    randomBelow: randomInt,
    clock,
  });
  return { desk, forTurns: { askPeople, asked: () => desk.changed() }, roleOf };
}

/** Who writes in a main group is an admin, who sits at the host is its owner, everybody else is a member. */
function createRoleOf(context: AppContext): RoleOf {
  return (group, { channel }) => {
    if (hasTrait(context, channel, "operatorOnly")) return "owner";
    return group.main ? "admin" : "member";
  };
}

/** Of those whose messages the turn answers, one with the least role. */
async function askerOf(
  { store }: AppContext,
  { group, turn, roleOf }: { readonly group: Group; readonly turn: string; readonly roleOf: RoleOf },
): Promise<Asker> {
  const messages = await store.messages.ofTurn(turn);
  const askers = messages.map(({ channel, sender }) => ({
    id: `${channel}:${sender.id}`,
    name: sender.name,
    role: roleOf(group, { channel, id: sender.id }),
  }));
  const least = askers.find(({ role }) => askers.every((other) => isAtLeast(other.role, role)));
  if (least) return least;
  const cause = (await store.turns.get(turn))?.cause;
  // Only the operator gives work by hand.
  return cause === "api"
    ? { id: "operator", name: "the operator", role: "owner" }
    : { id: cause ?? "work", name: cause ?? "work", role: "member" };
}
