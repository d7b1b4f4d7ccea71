import type { AbilityServices } from "../../abilities/catalog.ts";
import { CodeTries } from "../../rights/people/code-tries.ts";
import { agentNameOf } from "../../config/configured/agents.ts";
import type { Outbox } from "../../delivery/outbox.ts";
import { memberActor } from "../../domain/people/actor.ts";
import type { BudgetLimits, Group } from "../../domain/chats/group.ts";
import type { Role } from "../../domain/people/role.ts";
import { addresseeOf, mainSessionKey, mainSessionKeys } from "../../domain/turns/session.ts";
import { leftOf } from "../../domain/sandbox/skill.ts";
import { totalUsdPerDay } from "../../domain/turns/usage.ts";
import { allReferences, referencesOf } from "../../models/routes/routes.ts";
import { isPassing } from "../../lib/app-error.ts";
import { PendingCheck } from "../../lib/pending-check.ts";
import { utcDay } from "../../lib/time/utc-day.ts";
import type { Admissions } from "../../intake/chats/admissions.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { TurnPace } from "../../intake/limits/turn-pace.ts";
import type { JobService } from "../../abilities/jobs/job-service.ts";
import { createCatchUp } from "../../turns/catch-up.ts";
import { createChatCommands } from "../../surfaces/chat/chat-commands.ts";
import type { CommandServices } from "../../surfaces/chat/command.ts";
import type { OperationNeeds } from "../../surfaces/operations.ts";
import type { ContainerLauncher } from "../../sandbox/launch/launcher.ts";
import type { SessionPool } from "../../sandbox/pool/pool.ts";
import type { PendingCommand } from "../../stores/contract/store.ts";
import type { GroupSkills } from "../../abilities/skills/group-skills.ts";
import type { SideSessions } from "../../work/sessions/side-sessions.ts";
import type { Compactions } from "../../turns/compaction/compactions.ts";
import type { TurnRunner } from "../../turns/turn-runner.ts";
import type { Approvals } from "../people/approvals.ts";
import type { SettingsService } from "../../config/serving/settings-service.ts";
import { chatSettings } from "../../surfaces/chat/commands/settings/chat-settings.ts";
import { memoryServices } from "../memory/memory-desks.ts";
import type { AppContext } from "../context.ts";
import type { LazyMemories } from "../memory/memory-when-enabled.ts";
import { createContextView, type FirstPrompt } from "../capabilities/context-view.ts";
import type { SubAgents } from "../capabilities/sub-agents.ts";
import { isSessionOf } from "../../domain/turns/session.ts";
import { createTurnEnded, type TurnEndedOptions } from "../../turns/ending/turn-ended.ts";
import { describeRest } from "../../intake/limits/resting-notice.ts";
import { describeForChat } from "../../surfaces/chat/describe-for-chat.ts";

/** Codes that `/status` names. */
const mostAsked = 20;

export interface InterventionOptions {
  readonly runner: TurnRunner;
  readonly compactions: Pick<Compactions, "resume" | "stopped" | "isAsked">;
  readonly firstPrompt: FirstPrompt;
  readonly outbox: Outbox;
  readonly pool: SessionPool;
  readonly pace: Pick<TurnPace, "resting">;
  readonly admissions: Pick<Admissions, "answer">;
  readonly approvals: Pick<Approvals, "desk" | "forms">;
  readonly jobs: Pick<JobService, "ofGroup">;
  readonly launcher: Pick<ContainerLauncher, "judgeWanted">;
  readonly skills: Pick<GroupSkills, "look">;
  readonly sideSessions: Pick<SideSessions, "settled">;
  readonly memories: Pick<LazyMemories, "memoryOf">;
  readonly subAgents: Pick<SubAgents, "desk">;
  readonly abilities: Pick<AbilityServices, "heartbeat" | "tasks">;
  readonly turnEnded: TurnEndedOptions["turnEnded"];
  readonly settings: SettingsService;
  readonly operations: () => OperationNeeds | undefined;
}

/** The host's interventions in a group's work. */
export interface Interventions {
  /**
   * Carries out the group's new commands. Rejects when the machine is in trouble: they are still there then.
   * Another failure is logged and left for the next call, so that a command that cannot be done holds up nothing.
   */
  runCommands(group: Group): Promise<void>;
  /** The same for those that are under way, or could not be carried out. */
  runLeftCommands(group: Group): Promise<void>;
  /** Gives up what the group said too long ago, with a notice. */
  catchUp(group: Group): Promise<void>;
  /** The same for what reached the host too long after it was sent. */
  giveUpLate(group: Group): Promise<void>;
  /** Something has reached the host too long after it was sent. */
  cameLate(group: string): void;
  /**
   * Carries out commands and gives up old work of all groups, before anything else. Unregistered groups are left alone.
   */
  afterAbsence(groups: Pick<GroupRegistry, "list">): Promise<void>;
}

export function createInterventions(context: AppContext, options: InterventionOptions): Interventions {
  const { store, clock, logger } = context;
  const turnEnded = createTurnEnded(context, {
    ...options,
    subAgents: options.subAgents.desk,
  });
  const carryOut = createChatCommands({
    store,
    announce: (group, pending) => announce(context, group, pending),
    announceAnswer: (...answered) => options.approvals.desk.announce(...answered),
    refused: (group, pending, needed) => refused(context, group, pending, needed),
    turnEnded,
    conversationEnded: (group) => endOldContainer(context, options, group),
    answered: (answer) => {
      const { desk, forms } = options.approvals;
      if (answer?.values) forms.fill(answer.to.code, answer.values);
      desk.changed();
    },
    compactions: options.compactions,
    services: commandServices(context, options),
    deliver: () => options.outbox.wake(),
    clock,
  });
  const catchUp = openCatchUp(context, turnEnded);
  const commands = new PendingCheck();
  const late = new PendingCheck();
  const runLeftCommands = async (group: Group): Promise<void> => {
    try {
      await commands.settle(group.name, () => carryOut(group));
    } catch (error) {
      logger.error({ error, group: group.name }, "a chat command could not be carried out");
      if (isPassing(error)) throw error;
    }
  };
  const runCommands = (group: Group): Promise<void> => {
    commands.raise(group.name);
    return runLeftCommands(group);
  };
  return {
    runCommands,
    catchUp: catchUp.waitedHere,
    runLeftCommands,
    giveUpLate: (group) =>
      late.settle(group.name, async () => {
        await catchUp.cameLate(group);
        options.outbox.wake();
      }),
    cameLate: (group) => late.raise(group),
    afterAbsence: async (groups) => {
      for (const group of groups.list()) {
        await runCommands(group);
        await catchUp.waitedHere(group);
      }
    },
  };
}

function openCatchUp(
  { live, store, clock, publish }: AppContext,
  turnEnded: ReturnType<typeof createTurnEnded>,
): ReturnType<typeof createCatchUp> {
  return createCatchUp({
    store,
    limitMinutes: (group) => live.groupOf({ name: group }).turns.catchUpMinutes,
    turnEnded,
    gaveUp: (group, messages, limitMinutes) => {
      const data = { limit: "catch-up-minutes", allowed: limitMinutes, messages };
      return publish({ type: "limit.reached", group: group.name, actor: "host", data });
    },
    clock,
  });
}

function commandServices(context: AppContext, options: InterventionOptions): CommandServices {
  const { config, store, roles } = context;
  return {
    agentNameOf: (group, agent = group.agent) => agentNameOf(config, agent),
    memories: memoryServices(context, options.memories),
    roles,
    sessionOf: (group, agent) => store.sessions.open(mainSessionKey({ ...group, agent }), group.name),
    sessionsOf: async (group) => (await store.sessions.list()).filter((session) => isSessionOf(session, group)),
    describe: (group) => describe(context, options, group),
    isAtWork: (group) => options.runner.isActive(group.name),
    isCompactionAsked: (session) => options.compactions.isAsked(session),
    contextOf: async (group, agent) =>
      createContextView(context, () => options.firstPrompt)(
        await store.sessions.open(mainSessionKey({ ...group, agent }), group.name),
        {
          route: group.model,
          listsEntries: false,
        },
      ),
    usageSums: (...query) => store.usage.sums(...query),
    budgetsOf: (group) => ({ group: groupBudget(context, group), total: totalBudget(context) }),
    now: () => context.clock.now(),
    nextHeartbeatOf: (group) => options.abilities.heartbeat.nextOf(group),
    showTime: (time, { name }) => options.abilities.tasks.showTime(time, name),
    operations: options.operations,
    publish: context.publish,
    ...chatSettings(options.settings, options.launcher),
    routesOf: (group) => ({ all: allReferences(config.models.routes), inUse: group.model ?? config.models.default }),
    skillsOf: async (group) => leftOf(await options.skills.look(group.name), context.live.groupOf(group).agent.skills),
    jobsOf: (group) => options.jobs.ofGroup(group.name),
    answer: (pending) => options.admissions.answer(pending),
    isRequest: async (code) => (await store.requests.get(code)) !== undefined,
    approvalOf: async (code) => {
      await options.approvals.desk.endIfOver(code);
      return store.approvals.get(code);
    },
    forms: options.approvals.forms,
    codeTries: new CodeTries(store.requests, () => context.forwardClock.now()),
  };
}

function announce(
  { publish, fingerprint }: AppContext,
  { name: group }: Group,
  { command, argument, message: { id, sender } }: PendingCommand,
): Promise<void> {
  const said = argument === undefined ? undefined : fingerprint(argument);
  return publish({
    type: "command.given",
    group,
    actor: memberActor(sender.id),
    data: { command, argument, said, id },
  });
}

function refused(
  { publish }: AppContext,
  { name: group }: Group,
  { command, message: { channel, chat, sender } }: PendingCommand,
  needed: Role,
): Promise<void> {
  const data = { rule: `/${command} needs ${needed}`, channel, chat, command };
  return publish({ type: "access.refused", group, actor: memberActor(sender.id), data });
}

async function endOldContainer(
  { store }: AppContext,
  { pool, subAgents }: InterventionOptions,
  group: Group,
): Promise<void> {
  subAgents.desk.turnsEnded();
  for (const key of mainSessionKeys(group))
    await pool.retire(await store.sessions.open(key, group.name), "a new conversation has begun");
}

async function describe(
  context: AppContext,
  { pool, runner, pace }: InterventionOptions,
  group: Group,
): Promise<string> {
  const { config, store, clock } = context;
  const usage = (await store.usage.ofDay(utcDay(clock.now()))).find((entry) => entry.group === group.name);
  const hot = pool.list().find((container) => container.group === group.name);
  const resting = pace.resting(group.name);
  const describeAgent = async (agent: string) => ({
    name: agentNameOf(config, agent),
    active: runner.isActive(
      group.name,
      (await store.sessions.open(mainSessionKey({ ...group, agent }), group.name)).id,
    ),
    waiting: await store.messages.waitingCount(group, addresseeOf(group, agent)),
  });
  return describeForChat({
    agents: group.agents && (await Promise.all(group.agents.map(describeAgent))),
    assistantName: agentNameOf(config, group.agent),
    models: referencesOf(config.models.routes, group.model ?? config.models.default),
    waiting: await store.messages.waitingCount(group),
    active: runner.isActive(group.name),
    // Its name says something to the operator only.
    container: hot && (group.main ? `${hot.name} (${hot.state})` : hot.state),
    group,
    today: usage ?? { tokens: 0, usd: 0 },
    usdPerDay: { group: groupBudget(context, group).usdPerDay, total: totalBudget(context).usdPerDay },
    asked: (await store.approvals.list({ group: group.name, state: "open", limit: mostAsked })).map(({ code }) => code),
    rest: resting && describeRest(resting),
  });
}

function groupBudget({ config }: AppContext, { budget }: Group): BudgetLimits {
  const { usdPerDay, tokensPerDay } = config.budgets.perGroup;
  return { usdPerDay: budget.usdPerDay ?? usdPerDay, tokensPerDay: budget.tokensPerDay ?? tokensPerDay };
}

function totalBudget({ config }: AppContext): BudgetLimits {
  const { total } = config.budgets;
  return { usdPerDay: totalUsdPerDay(total), tokensPerDay: total.tokensPerDay };
}
