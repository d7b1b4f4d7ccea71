import { randomInt } from "node:crypto";

import type { AbilityServices } from "../abilities/catalog.ts";
import { ApprovalService } from "../rights/approvals/approval-service.ts";
import type { Proposals, ProposalsByTool } from "../rights/approvals/proposals.ts";
import { ProposedChanges } from "../rights/approvals/proposed-changes.ts";
import { type AnswerByReaction, createAnswerByReaction } from "../rights/approvals/answer-by-reaction.ts";
import { askerOfTurn } from "../rights/approvals/asker-of-turn.ts";
import { createPresence } from "../rights/people/presence.ts";
import { createAsk } from "../rights/approvals/asking.ts";
import { Forms, type FormsOptions } from "../rights/approvals/forms/forms.ts";
import { ChangedDescriptions, type ChangedDescriptionsOptions } from "../rights/approvals/changed-descriptions.ts";
import { firstGroupWith } from "../config/configured/mcp.ts";
import { configuredPeople } from "../config/configured/people.ts";
import type { Group } from "../domain/chats/group.ts";
import type { QueuedSession } from "../work/queue/session-queue.ts";
import type { Signal } from "../lib/signal.ts";
import type { Instructions } from "../sandbox/workspace/instructions.ts";
import { InstructionProposals } from "../tools/chat/instruction-proposals.ts";
import { proposeInstructions } from "../tools/chat/propose-instructions.ts";
import type { CallGate } from "../turns/collaborators.ts";
import type { AgentGroups } from "../config/serving/agent-groups.ts";
import type { AppContext } from "./context.ts";
import type { GroupTools } from "../tools/group-tools.ts";
import { createDeniedNow } from "../tools/denied-now.ts";

export interface Approvals {
  readonly service: ApprovalService;
  readonly descriptions: ChangedDescriptions;
  readonly forms: Forms;
  readonly forTurns: Pick<CallGate, "ask" | "approvalsAsked" | "changeOutcome" | "futility">;
  readonly answerByReaction: AnswerByReaction;
}

interface ApprovalsOptions {
  /** Emits sessions that can go on. */
  readonly sessionReady: Signal<QueuedSession>;
  readonly deliver: () => void;
  readonly groups: { readonly byName: (name: string) => Group | undefined; readonly list: () => readonly Group[] };
  readonly instructions: Pick<Instructions, "current" | "replace">;
  readonly agentGroups: AgentGroups;
  readonly hostTools: Pick<GroupTools, "registryOf">;
  readonly mcp: Pick<AbilityServices["mcp"], "allow" | "pendingOf">;
  readonly abilities: { readonly proposals: ProposalsByTool };
}

/** Approvals: asking people, and handling their answers. */
export function createApprovals(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: ApprovalsOptions,
): Approvals {
  const { config, store, clock, forwardClock, logger } = context;
  const { deliver } = options;
  const proposals = new Map([
    ...options.abilities.proposals,
    [proposeInstructions.name, createInstructionProposals(context, options)] as const,
  ]);
  const asked = (): void => service.checkNow();
  const isThere = createPresence({
    chats: store.chats,
    people: () => configuredPeople(config),
    memberKeys: (name) => Object.keys(context.live.groupOf({ name }).members?.byKey ?? {}),
    roleOf: context.roles.roleOf,
  });
  const descriptions = createChangedDescriptions(context, { ...options, asked, isThere });
  const forms = createForms(context, { asked, deliver });
  const changes = new ProposedChanges({
    store: store.approvals,
    proposals,
    descriptions,
    deliver,
    clock,
    logger,
  });
  const service = stack.use(createService(context, options, { changes, descriptions, forms }));
  context.live.onChange(() => service.checkNow());
  const askPeople = createAsk({
    settings: () => config.approvals,
    askerOf: (group, turn) => askerOfTurn(store, context.roles.roleOf, group, turn),
    isThere,
    changeOf: async (group, { name, input }) => proposals.get(name)?.changeOf(group, input),
    byThumb: (channel) => context.hasTrait(channel, "hearsReactions"),
    randomBelow: randomInt,
    clock: forwardClock,
  });
  const answerByReaction = createAnswers(context, service, deliver);
  const changeOutcome = changes.outcomeOf.bind(changes);
  return {
    service,
    descriptions,
    forms,
    answerByReaction,
    forTurns: {
      ask: askPeople,
      futility: async (group, { name, input }) => proposals.get(name)?.faultOf(group, input),
      approvalsAsked: asked,
      changeOutcome,
    },
  };
}

function createChangedDescriptions(
  { config, live, store, hasTrait, publish, forwardClock }: AppContext,
  options: Pick<ChangedDescriptionsOptions, "asked" | "deliver" | "groups" | "isThere"> & {
    readonly mcp: Pick<AbilityServices["mcp"], "allow" | "pendingOf">;
  },
): ChangedDescriptions {
  const { asked, deliver, isThere, groups, mcp } = options;
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
  { sessionReady, deliver, hostTools, groups }: ApprovalsOptions,
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
      registryOf: (group) => hostTools.registryOf(group),
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
function createForms(context: AppContext, told: Pick<FormsOptions, "asked" | "deliver">): Forms {
  const { config, store, publish, forwardClock } = context;
  return new Forms({
    store: store.approvals,
    settings: () => config.approvals,
    askerOf: (group, turn) => askerOfTurn(store, context.roles.roleOf, group, turn),
    publish,
    randomBelow: randomInt,
    clock: forwardClock,
    ...told,
  });
}

function createAnswers(
  { store, roles, publish, clock }: AppContext,
  service: ApprovalService,
  deliver: () => void,
): AnswerByReaction {
  const standingOf: Parameters<typeof createAnswerByReaction>[0]["standingOf"] = (group, who) =>
    roles.standingOf(group, who);
  return createAnswerByReaction({ store: store.approvals, service, standingOf, publish, deliver, clock });
}

function createInstructionProposals(
  { store: { sessions } }: AppContext,
  { agentGroups, instructions, groups }: Pick<ApprovalsOptions, "agentGroups" | "instructions" | "groups">,
): Proposals {
  return new InstructionProposals({ instructions, sessions, groups, agentGroups });
}
