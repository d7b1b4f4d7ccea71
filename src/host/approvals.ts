import { randomInt } from "node:crypto";

import { ApprovalService } from "../rights/approvals/approval-service.ts";
import { ProposedChanges } from "../rights/approvals/proposed-changes.ts";
import { type AnswerByReaction, createAnswerByReaction } from "../rights/approvals/answer-by-reaction.ts";
import { askerOfTurn } from "../rights/approvals/asker-of-turn.ts";
import { createPresence } from "../rights/people/presence.ts";
import { createAsk } from "../rights/approvals/asking.ts";
import { Forms, type FormsOptions } from "../rights/approvals/forms/forms.ts";
import { ChangedDescriptions, type ChangedDescriptionsOptions } from "../rights/approvals/changed-descriptions.ts";
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
}

interface ApprovalParts {
  readonly abilities: HostAbilities;
  readonly agents: Pick<HostAgents, "agentGroups">;
  readonly containers: Pick<Containers, "instructions">;
  readonly delivery: Pick<HostDelivery, "deliver">;
  readonly groups: GroupRegistry;
  readonly signals: Pick<HostSignals, "sessionReady" | "toolsChanged">;
}

/** Approvals: asking people, and handling their answers. */
export function createApprovals(context: AppContext, stack: AsyncDisposableStack, parts: ApprovalParts): Approvals {
  const { config, store, roles, publish, clock, forwardClock, logger } = context;
  const { deliver } = parts.delivery;
  const { subAgents } = parts.abilities.services;
  const { instructions } = parts.containers;
  const { agentGroups } = parts.agents;
  const forInstructions = { sessions: store.sessions, instructions, groups: parts.groups, agentGroups };
  const proposals = new Map([
    ...parts.abilities.running.proposals,
    [proposeInstructions.name, new InstructionProposals(forInstructions)] as const,
  ]);
  const asked = (): void => service.checkNow();
  const isThere = createPresence({
    chats: store.chats,
    people: () => configuredPeople(config),
    memberKeys: (name) => Object.keys(context.live.groupOf({ name }).members?.byKey ?? {}),
    roleOf: roles.roleOf,
  });
  const descriptions = createChangedDescriptions(context, parts, { asked, isThere });
  parts.signals.toolsChanged.on(({ tools, group }) => descriptions.ask(tools, group));
  const forms = createForms(context, { asked, deliver });
  const changes = new ProposedChanges({ store: store.approvals, proposals, descriptions, deliver, clock, logger });
  const service = stack.use(createService(context, parts, { changes, descriptions, forms }));
  context.live.onChange(() => service.checkNow());
  const askPeople = createAsk({
    settings: () => config.approvals,
    askerOf: (group, turn) => askerOfTurn(store, roles.roleOf, group, turn),
    isThere,
    changeOf: async (group, { name, input }) => proposals.get(name)?.changeOf(group, input),
    byThumb: (channel) => context.hasTrait(channel, "hearsReactions"),
    randomBelow: randomInt,
    clock: forwardClock,
  });
  const answerByReaction = createAnswerByReaction({
    store: store.approvals,
    service,
    standingOf: (group, who) => roles.standingOf(group, who),
    publish,
    deliver,
    clock,
  });
  return {
    service,
    descriptions,
    forms,
    answerByReaction,
    forTurns: {
      ask: askPeople,
      prepareSpawns: (scope, calls) => subAgents.prepareSpawns(scope, calls),
      spawned: () => subAgents.spawned(),
      futility: async (group, { name, input }) => proposals.get(name)?.faultOf(group, input),
      approvalsAsked: asked,
      changeOutcome: changes.outcomeOf.bind(changes),
    },
  };
}

function createChangedDescriptions(
  { config, live, store, hasTrait, publish, forwardClock }: AppContext,
  { abilities, delivery, groups }: ApprovalParts,
  { asked, isThere }: Pick<ChangedDescriptionsOptions, "asked" | "isThere">,
): ChangedDescriptions {
  const { deliver } = delivery;
  const { mcp } = abilities.services;
  return new ChangedDescriptions({
    store: store.approvals,
    settings: () => config.approvals,
    groups,
    groupWith: (server) => firstGroupWith(live.current, server),
    policyOf: (name) => live.groupOf({ name }).policy,
    byThumb: (channel) => hasTrait(channel, "hearsReactions"),
    isThere,
    allow: (...tool) => mcp.allow(...tool),
    pendingOf: (...tool) => mcp.pendingOf(...tool),
    asked,
    publish,
    deliver,
    randomBelow: randomInt,
    clock: forwardClock,
  });
}

function createService(
  context: AppContext,
  { abilities: { tools }, delivery: { deliver }, groups, signals: { sessionReady } }: ApprovalParts,
  {
    changes,
    descriptions,
    forms,
  }: { readonly changes: ProposedChanges; readonly descriptions: ChangedDescriptions; readonly forms: Forms },
): ApprovalService {
  const { live, store, roles, clock, forwardClock, publish, logger } = context;
  return new ApprovalService({
    store: store.approvals,
    wake: async ({ session, group }) => {
      const found = session === undefined ? undefined : await store.sessions.get(session);
      if (found) await sessionReady.emit({ session: found.key, group, awaited: true });
    },
    carryOut: (code) => changes.settle(code),
    forms,
    isMoot: async (approval) =>
      approval.about === "form" ? !forms.isAwaited(approval.code) : descriptions.isMoot(approval),
    deniedBy: createDeniedNow({
      store,
      groups,
      registryOf: (group) => tools.registryOf(group),
      policyOf: (group) => live.groupOf(group).policy,
      roleOf: roles.roleOf,
    }),
    deliver,
    publish,
    clock,
    forwardClock,
    logger,
  });
}

/** Forms of servers, addressed to the person that the turn works for. */
function createForms(context: AppContext, { asked, deliver }: Pick<FormsOptions, "asked" | "deliver">): Forms {
  const { config, store, publish, forwardClock } = context;
  return new Forms({
    store: store.approvals,
    settings: () => config.approvals,
    askerOf: (group, turn) => askerOfTurn(store, context.roles.roleOf, group, turn),
    publish,
    randomBelow: randomInt,
    clock: forwardClock,
    asked,
    deliver,
  });
}
