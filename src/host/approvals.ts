import { randomInt } from "node:crypto";

import type { Group } from "../domain/chats/group.ts";
import type { ProposalsByTool } from "../rights/approvals/proposals.ts";
import { ApprovalService } from "../rights/approvals/approval-service.ts";
import { ProposedChanges } from "../rights/approvals/proposed-changes.ts";
import { type AnswerByReaction, createAnswerByReaction } from "../rights/approvals/answer-by-reaction.ts";
import { askerOfTurn } from "../rights/approvals/asker-of-turn.ts";
import { createPresence } from "../rights/people/presence.ts";
import { createQuestions } from "../rights/approvals/asking.ts";
import { Forms } from "../rights/approvals/forms/forms.ts";
import { ChangedDescriptions } from "../rights/approvals/changed-descriptions.ts";
import { openReviews, type Reviews } from "../rights/approvals/reviews/open-reviews.ts";
import { agentNameOf } from "../config/configured/agents.ts";
import { firstGroupWith } from "../config/configured/mcp.ts";
import { configuredPeople } from "../config/configured/people.ts";
import { InstructionProposals } from "../tools/chat/instruction-proposals.ts";
import { proposeInstructions } from "../tools/chat/propose-instructions.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { CallGate } from "../turns/collaborators.ts";
import type { HostAbilities } from "./abilities.ts";
import type { HostDelivery } from "./channels.ts";
import type { Containers } from "./containers.ts";
import type { AppContext, HostSignals } from "./context.ts";
import type { HostAgents } from "./settings.ts";
import { createDeniedNow } from "../tools/denied-now.ts";

export interface Approvals {
  readonly service: ApprovalService;
  readonly descriptions: ChangedDescriptions;
  readonly forms: Forms;
  readonly forTurns: CallGate;
  readonly answerByReaction: AnswerByReaction;
  readonly reviews: Reviews;
}

interface ApprovalParts {
  readonly abilities: HostAbilities;
  readonly agents: Pick<HostAgents, "agentGroups">;
  readonly containers: Pick<Containers, "instructions" | "reviewLayers">;
  readonly delivery: Pick<HostDelivery, "deliver">;
  readonly groups: GroupRegistry;
  readonly signals: Pick<HostSignals, "sessionReady" | "toolsChanged">;
}

/** Approvals: asking people, and handling their answers. */
export function createApprovals(context: AppContext, stack: AsyncDisposableStack, parts: ApprovalParts): Approvals {
  const { config, store, roles, live, publish, clock, logger } = context;
  const { deliver } = parts.delivery;
  const { jobs, mcp, subAgents } = parts.abilities.services;
  const { instructions } = parts.containers;
  const { agentGroups } = parts.agents;
  const ofInstructions = { sessions: store.sessions, instructions, groups: parts.groups, agentGroups };
  const proposals: ProposalsByTool = new Map([
    ...parts.abilities.running.proposals,
    [proposeInstructions.name, new InstructionProposals(ofInstructions)] as const,
  ]);
  const asking = createAsking(context, parts, () => service.checkNow());
  const descriptions = new ChangedDescriptions({
    ...asking,
    groupWith: (server) => firstGroupWith(live.current, server),
    policyOf: (name) => live.groupOf({ name }).policy,
    allow: (...tool) => mcp.allow(...tool),
    pendingOf: (...tool) => mcp.pendingOf(...tool),
  });
  parts.signals.toolsChanged.on(({ tools, group }) => descriptions.ask(tools, group));
  const forms = new Forms({ ...asking, note: (turn, origins) => store.origins.note(turn, origins) });
  const changes = new ProposedChanges({ store: store.approvals, proposals, descriptions, deliver, clock, logger });
  const reviews = openReviews({
    ...asking,
    layers: parts.containers.reviewLayers,
    settingsOf: (name, target) => live.groupOf({ name }).reviewOf(target),
    agentNameOf: (group) => agentNameOf(config, group.acting?.name ?? group.agent),
    answer: (given) => service.answer(given),
  });
  const service = stack.use(createService(context, parts, { changes, descriptions, forms, reviews }));
  live.onChange(() => service.checkNow());
  const { standingOf } = roles;
  const answering = { store: store.approvals, service, standingOf, publish, deliver, clock };
  return {
    service,
    descriptions,
    forms,
    answerByReaction: createAnswerByReaction(answering),
    reviews,
    forTurns: {
      ...createQuestions({
        ...asking,
        changeOf: async (group, call) => proposals.get(call.name)?.changeOf(group, call.input),
      }),
      prepareSpawns: (scope, calls) => subAgents.prepareSpawns(scope, calls),
      spawned: () => subAgents.spawned(),
      refusal: (scope, call) => jobs.refusalOf(scope, call),
      futility: async (group, { name, input }) => proposals.get(name)?.faultOf(group, input),
      approvalsAsked: asking.asked,
      reviewsOf: (group) => reviews.ofTurn(group),
      reviewsAsked: (asks, areStored) => reviews.questions.asked(asks, areStored),
      changeOutcome: changes.outcomeOf.bind(changes),
    },
  };
}

/** Everything that asks people something works with these. */
function createAsking(
  { config, store, roles, live, hasTrait, publish, forwardClock, logger }: AppContext,
  { groups, delivery: { deliver } }: ApprovalParts,
  asked: () => void,
) {
  return {
    store: store.approvals,
    settings: () => config.approvals,
    groups,
    askerOf: (group: Group, turn: string) => askerOfTurn(store, roles.roleOf, group, turn),
    isThere: createPresence({
      chats: store.chats,
      people: () => configuredPeople(config),
      memberKeys: (name) => Object.keys(live.groupOf({ name }).members?.byKey ?? {}),
      roleOf: roles.roleOf,
    }),
    byThumb: (channel: string) => hasTrait(channel, "hearsReactions"),
    asked,
    publish,
    deliver,
    randomBelow: (limit: number) => randomInt(limit),
    clock: forwardClock,
    logger,
  };
}

function createService(
  context: AppContext,
  { abilities: { tools }, delivery: { deliver }, groups, signals: { sessionReady } }: ApprovalParts,
  own: Pick<Approvals, "descriptions" | "forms" | "reviews"> & { readonly changes: ProposedChanges },
): ApprovalService {
  const { live, store, roles, clock, forwardClock, publish, logger } = context;
  const { changes, descriptions, forms, reviews } = own;
  return new ApprovalService({
    store: store.approvals,
    wake: async ({ session, group }) => {
      const found = session === undefined ? undefined : await store.sessions.get(session);
      if (found) await sessionReady.emit({ session: found.key, group, awaited: true });
    },
    carryOut: (code) => changes.settle(code),
    carryOutReviews: () => reviews.effects.carryOut(),
    forms,
    isMoot: async (asked) =>
      asked.about === "form"
        ? !forms.isAwaited(asked.code)
        : asked.about === "description" && descriptions.isMoot(asked),
    deniedBy: createDeniedNow({
      store,
      groups,
      registryOf: (group) => tools.registryOf(group),
      settingsOf: (group) => live.groupOf(group),
      roleOf: roles.roleOf,
    }),
    deliver,
    publish,
    clock,
    forwardClock,
    logger,
  });
}
