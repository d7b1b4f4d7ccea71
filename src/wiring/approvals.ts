import { randomInt } from "node:crypto";

import { ApprovalDesk } from "../approvals/approval-desk.ts";
import { createAsk } from "../approvals/asking.ts";
import { configuredPeople, membersOf } from "../config/people.ts";
import type { Asker } from "../domain/approval.ts";
import type { Group } from "../domain/group.ts";
import { parseMemberKey } from "../domain/person.ts";
import { isAtLeast, type Role } from "../domain/role.ts";
import type { QueuedSession } from "../queue/session-queue.ts";
import type { TurnOptions } from "../turns/turn-options.ts";
import type { AppContext } from "./context.ts";

export interface Approvals {
  readonly desk: ApprovalDesk;
  readonly forTurns: Pick<TurnOptions, "askPeople" | "asked">;
}

/** An id that no channel has: somebody of whom nothing is configured. */
const anybody = "\n";

/** How people are asked about calls, and what becomes of their answers. */
export function createApprovals(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: { readonly wake: (queued: QueuedSession) => void; readonly deliver: () => void },
): Approvals {
  const { config, store, clock, publish, logger } = context;
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
    askerOf: (group, turn) => askerOf(context, group, turn),
    isThere: (group, role) => isThere(context, group, role),
    randomBelow: randomInt,
    clock,
  });
  return { desk, forTurns: { askPeople, asked: () => desk.changed() } };
}

/** Of those whose messages the turn answers, one with the least role. */
async function askerOf({ store, roles }: AppContext, group: Group, turn: string): Promise<Asker> {
  const messages = await store.messages.ofTurn(turn);
  const askers = messages.map(({ channel, sender }) => ({
    id: `${channel}:${sender.id}`,
    name: sender.name,
    role: roles.roleOf(group, { channel, id: sender.id }),
  }));
  const least = askers.find(({ role }) => askers.every((other) => isAtLeast(other.role, role)));
  if (least) return least;
  const work = await store.work.ofTurn(turn);
  const agent = work?.cause === "agent" ? await store.subAgents.ofSession(work.session) : undefined;
  if (agent) {
    const { id, requester = id, role } = agent;
    return { id: requester, name: `${id}, a sub-agent`, role };
  }
  const cause = (await store.turns.get(turn))?.cause;
  // Only the operator gives work by hand.
  return cause === "api"
    ? { id: "operator", name: "the operator", role: "owner" }
    : { id: cause ?? "work", name: cause ?? "work", role: "member" };
}

/** Where nobody knows who is in the chat, whoever has the role on its channel may be. */
async function isThere({ config, store, roles }: AppContext, group: Group, role: Role): Promise<boolean> {
  const { channel, name } = group;
  const chat = await store.chats.get(channel, group.chat);
  const known = chat?.members?.map(({ id }) => id);
  const keys = [
    ...configuredPeople(config).flatMap(({ ids }) => ids),
    ...Object.keys(membersOf(config, name)?.byKey ?? {}),
  ];
  const named = keys.flatMap((key) => parseMemberKey(key) ?? []).filter((who) => who.channel === channel);
  const ids = known ?? [...named.map(({ id }) => id), anybody];
  return ids.some((id) => isAtLeast(roles.roleOf(group, { channel, id }), role));
}
