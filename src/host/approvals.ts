import { randomInt } from "node:crypto";

import { ApprovalService } from "../rights/approvals/approval-service.ts";
import { ProposedChanges, type ProposedChangesOptions } from "../rights/approvals/proposed-changes.ts";
import { type AnswerByReaction, createAnswerByReaction } from "../rights/approvals/answer-by-reaction.ts";
import { askerOfTurn } from "../rights/approvals/asker-of-turn.ts";
import { createAsk } from "../rights/approvals/asking.ts";
import { Forms, type FormsOptions } from "../rights/approvals/forms/forms.ts";
import type { ChangedDescriptions } from "../rights/approvals/changed-descriptions.ts";
import { configuredPeople } from "../config/configured/people.ts";
import type { ProposedChange } from "../domain/rights/approval.ts";
import { type Group, workFolder } from "../domain/chats/group.ts";
import type { ToolCall } from "../domain/turns/model.ts";
import { parseMemberKey } from "../domain/people/person.ts";
import { isAtLeast, type Role } from "../domain/people/role.ts";
import { packageRequest } from "../domain/sandbox/packages.ts";
import { skillProposal } from "../domain/sandbox/skill.ts";
import type { QueuedSession } from "../work/queue/session-queue.ts";
import type { Signal } from "../lib/signal.ts";
import { unifiedDiff } from "../lib/text/unified-diff.ts";
import type { Instructions } from "../sandbox/workspace/instructions.ts";
import { type ProposedSkill, SkillProposals } from "../abilities/skills/skill-proposals.ts";
import type { GroupToolSet } from "./capabilities/group-tools.ts";
import type { Mcp } from "./capabilities/mcp/mcp.ts";
import { proposeInstructions } from "../tools/chat/propose-instructions.ts";
import { proposeSkill } from "../tools/skills/propose-skill.ts";
import type { CallGate } from "../turns/collaborators.ts";
import { folderOfSession } from "./as-agent.ts";
import type { AppContext } from "./context.ts";
import { hostUid } from "../lib/process/host-uid.ts";
import { skillFolders } from "../abilities/skills/places.ts";
import { createChangedDescriptions } from "./people/changed-descriptions.ts";
import { PackageRequests } from "./people/package-requests.ts";
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
  readonly hostTools: GroupToolSet;
  readonly mcp: Pick<Mcp, "allow">;
  readonly settings: ConstructorParameters<typeof PackageRequests>[1];
}

/** An impossible id, for an unconfigured person. */
const anybody = "\n";

/** Approvals: asking people, and handling their answers. */
export function createApprovals(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: ApprovalsOptions,
): Approvals {
  const { config, store, clock, forwardClock, logger } = context;
  const { deliver, instructions, groups } = options;
  const proposable = createProposable(context, options);
  const asked = (): void => service.checkNow();
  const descriptions = createChangedDescriptions(context, { ...options, asked, isThere: isThereIn(context, groups) });
  const forms = createForms(context, { asked, deliver });
  const changes = new ProposedChanges({
    store: store.approvals,
    write: createWrite(context, { ...proposable, instructions, groups, descriptions }),
    deliver,
    clock,
    logger,
  });
  const service = stack.use(createService(context, options, { changes, descriptions, forms }));
  context.live.onChange(() => service.checkNow());
  const askPeople = createAsk({
    settings: () => config.approvals,
    askerOf: (group, turn) => askerOfTurn(store, context.roles.roleOf, group, turn),
    isThere: (group, role) => isThere(context, group, role),
    changeOf: (group, call) => changeOf(proposable, group, call),
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
      futility: (...call) => futilityOf(proposable, ...call),
      approvalsAsked: asked,
      changeOutcome,
    },
  };
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
      registryOf: hostTools.registryOf,
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

/** Skills are the group's. Instructions are those by which the agent of the session works that proposes them. */
function createWrite(
  context: AppContext,
  {
    instructions,
    skills,
    packages,
    groups,
    descriptions,
  }: Pick<ApprovalsOptions, "groups"> & {
    readonly instructions: Pick<Instructions, "replace">;
    readonly skills: SkillProposals;
    readonly packages: PackageRequests;
    readonly descriptions: Pick<ChangedDescriptions, "write">;
  },
): ProposedChangesOptions["write"] {
  return async ({ group: name, session, tool, ...change }) => {
    if (change.about === "description") return descriptions.write({ group: name, session, tool, ...change });
    if (tool === skillProposal)
      return skills.write({ group: name, ...change, ...readProposal(JSON.parse(change.content)) });
    if (tool === packageRequest) return packages.write({ group: name, session, tool, ...change });
    const found = session === undefined ? undefined : await context.store.sessions.get(session);
    const group = groups.byName(name);
    return instructions.replace(group && found ? folderOfSession(context, group, found) : name, change);
  };
}

interface Proposable {
  readonly instructions: Pick<Instructions, "current">;
  readonly skills: Pick<SkillProposals, "changeOf" | "faultOf">;
  readonly packages: Pick<PackageRequests, "changeOf" | "faultOf">;
}

function createProposable(
  context: AppContext,
  { instructions, settings }: Pick<ApprovalsOptions, "instructions" | "settings">,
) {
  const places = skillFolders(context.home.paths, context.environment.checkout);
  const skills = new SkillProposals({ places, hostUid: hostUid(), publish: context.publish });
  return { instructions, skills, packages: new PackageRequests(context, settings) };
}

function readProposal(input: unknown): ProposedSkill {
  const { name, files } = proposeSkill.input.parse(input) as unknown as ProposedSkill;
  return { name, files };
}

/** Change that a proposing tool's call would make. */
async function changeOf(
  { instructions, skills, packages }: Proposable,
  group: Group,
  { name, input }: ToolCall,
): Promise<ProposedChange | undefined> {
  if (name === skillProposal) return skills.changeOf(group.name, readProposal(input));
  if (name === packageRequest) return packages.changeOf(group.name, input);
  if (name !== proposeInstructions.name) return undefined;
  const { content } = proposeInstructions.input.parse(input) as { readonly content: string };
  const { text, sha256 } = await instructions.current(workFolder(group));
  return { diff: unifiedDiff(text, content), base: sha256 };
}

/** Returns why people need not be asked about a call: its proposal is already in effect. */
async function futilityOf(proposable: Proposable, group: Group, call: ToolCall): Promise<string | undefined> {
  if (call.name === skillProposal) return proposable.skills.faultOf(group.name, readProposal(call.input));
  if (call.name === packageRequest) return proposable.packages.faultOf(group.name, call.input);
  const change = await changeOf(proposable, group, call);
  return change?.diff === "" ? "AGENTS.md says exactly this already: there is nothing to change." : undefined;
}

function isThereIn(
  context: AppContext,
  groups: { readonly byName: (name: string) => Group | undefined },
): (name: string, role: Role) => Promise<boolean> {
  return async (name, role) => {
    const group = groups.byName(name);
    return group !== undefined && isThere(context, group, role);
  };
}

/**
 * True when somebody with the role is in the chat; where members are unknown, anyone with the role on its channel
 * counts.
 */
async function isThere({ config, live, store, roles }: AppContext, group: Group, role: Role): Promise<boolean> {
  const { channel, name } = group;
  const chat = await store.chats.get(channel, group.chat);
  const known = chat?.members?.map(({ id }) => id);
  const keys = [
    ...configuredPeople(config).flatMap(({ ids }) => ids),
    ...Object.keys(live.groupOf({ name }).members?.byKey ?? {}),
  ];
  const named = keys.flatMap((key) => parseMemberKey(key) ?? []).filter((who) => who.channel === channel);
  const ids = known ?? [...named.map(({ id }) => id), anybody];
  return ids.some((id) => isAtLeast(roles.roleOf(group, { channel, id }), role));
}
