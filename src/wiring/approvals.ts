import { randomInt } from "node:crypto";

import { ApprovalDesk } from "../approvals/approval-desk.ts";
import { ProposedChanges } from "../approvals/proposed-changes.ts";
import { type AnswerByReaction, createAnswerByReaction } from "../approvals/answer-by-reaction.ts";
import { createAsk } from "../approvals/asking.ts";
import { hasTrait } from "../config/adapters.ts";
import { configuredPeople, membersOf } from "../config/people.ts";
import type { Asker, ProposedChange } from "../domain/approval.ts";
import type { Group } from "../domain/group.ts";
import type { ToolCall } from "../domain/model.ts";
import { parseMemberKey } from "../domain/person.ts";
import { isAtLeast, type Role } from "../domain/role.ts";
import type { QueuedSession } from "../queue/session-queue.ts";
import { unifiedDiff } from "../lib/text/unified-diff.ts";
import type { Instructions } from "../sandbox/workspace/instructions.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { proposeInstructions } from "../tools/propose-instructions.ts";
import type { TurnOptions } from "../turns/turn-options.ts";
import type { AppContext } from "./context.ts";
import { createDeniedBy } from "./withdrawals.ts";

export interface Approvals {
  readonly desk: ApprovalDesk;
  readonly forTurns: Pick<TurnOptions, "askPeople" | "asked" | "changeOutcome" | "futility">;
  readonly answerByReaction: AnswerByReaction;
}

/** An id that no channel has: somebody of whom nothing is configured. */
const anybody = "\n";

/** How people are asked about calls, and what becomes of their answers. */
export function createApprovals(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly queue: () => { readonly wake: (queued: QueuedSession) => void };
    readonly deliver: () => void;
    readonly groups: { readonly byName: (name: string) => Group | undefined };
    readonly instructions: Pick<Instructions, "current" | "replace">;
  },
): Approvals {
  const { config, store, clock, forwardClock, publish, logger } = context;
  const { deliver, instructions, groups } = options;
  const changes = new ProposedChanges({
    store: store.approvals,
    write: ({ group, ...change }) => instructions.replace(group, change),
    deliver,
    clock,
    logger,
  });
  const desk = stack.use(
    new ApprovalDesk({
      store: store.approvals,
      wake: async ({ session, group }) => {
        const found = await store.sessions.get(session);
        if (found) options.queue().wake({ session: found.key, group, awaited: true });
      },
      carryOut: (code) => changes.settle(code),
      deniedBy: createDeniedBy(context, { registry: new ToolRegistry(context.adapters.tools), groups }),
      deliver,
      publish,
      clock,
      forwardClock,
      logger,
    }),
  );
  context.live.onChange(() => desk.changed());
  const askPeople = createAsk({
    settings: () => config.approvals,
    askerOf: (group, turn) => askerOf(context, group, turn),
    isThere: (group, role) => isThere(context, group, role),
    changeOf: (group, call) => changeOf(instructions, group, call),
    byThumb: (channel) => hasTrait(context, channel, "hearsReactions"),
    randomBelow: randomInt,
    clock: forwardClock,
  });
  const changeOutcome = (turn: string, call: string) => changes.outcomeOf(turn, call);
  const answerByReaction = createAnswerByReaction({
    store: store.approvals,
    desk,
    standingOf: (group, who) => context.roles.standingOf(group, who),
    publish,
    deliver: options.deliver,
    clock,
  });
  const futility = (group: Group, call: ToolCall) => futilityOf(instructions, group, call);
  const forTurns = { askPeople, futility, asked: () => desk.changed(), changeOutcome };
  return { desk, answerByReaction, forTurns };
}

/** What a call of the tool that proposes instructions would change in those that are in use. */
async function changeOf(
  instructions: Pick<Instructions, "current">,
  group: Group,
  { name, input }: ToolCall,
): Promise<ProposedChange | undefined> {
  if (name !== proposeInstructions.name) return undefined;
  const { content } = proposeInstructions.input.parse(input) as { readonly content: string };
  const { text, sha256 } = await instructions.current(group.name);
  return { diff: unifiedDiff(text, content), base: sha256 };
}

/** Why people need not be asked about a call: what it proposes holds already. */
async function futilityOf(
  instructions: Pick<Instructions, "current">,
  group: Group,
  call: ToolCall,
): Promise<string | undefined> {
  const change = await changeOf(instructions, group, call);
  return change?.diff === "" ? "AGENTS.md says exactly this already: there is nothing to change." : undefined;
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
