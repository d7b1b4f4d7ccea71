import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { openLateProvider } from "../models/catalog.ts";
import { ConfiguredModels } from "../models/configured-models.ts";
import { keepLearned } from "../models/knowledge/learned-models.ts";
import { ProviderSet } from "../models/routes/provider-set.ts";
import { agentNameOf } from "../config/configured/agents.ts";
import { secretsOf } from "../config/loading/secrets.ts";
import { createAccessOf } from "../config/serving/people.ts";
import { promptTexts } from "../config/prompts/prompt-files.ts";
import { createFailureNotices } from "../delivery/failure-notices.ts";
import type { TellOperator } from "../delivery/operator-notices.ts";
import { type ReplyFormats, createReplyFormats } from "../delivery/reply-redaction.ts";
import { workFolder } from "../domain/chats/group.ts";
import { leftOf } from "../domain/sandbox/skill.ts";
import type { Session } from "../domain/turns/session.ts";
import type { GroupRegistry } from "../intake/chats/group-registry.ts";
import type { IntakeGuard } from "../intake/limits/intake-guard.ts";
import { toError } from "../lib/app-error.ts";
import { sleep } from "../lib/time/sleep.ts";
import { containerPaths } from "../protocol/paths.ts";
import { ReviewNews } from "../rights/approvals/reviews/review-news.ts";
import { TurnDeltas } from "../records/events/deltas/turn-deltas.ts";
import { readAgentNotes } from "../sandbox/workspace/agent-notes.ts";
import { ConversationTools } from "../tools/conversation-tools.ts";
import type { AnswerWriter, HostTools } from "../turns/collaborators.ts";
import { Compactions } from "../turns/compaction/compactions.ts";
import { Compactor } from "../turns/compaction/compactor.ts";
import { createFit } from "../turns/compaction/fit-conversation.ts";
import { ShownConversations } from "../turns/compaction/shown-conversation.ts";
import { estimatePromptTokens } from "../turns/context/tokens.ts";
import { CacheWatch } from "../turns/conversation/cache-watch.ts";
import { ResultClearing } from "../turns/conversation/clearing.ts";
import { ConversationPrompts, type PromptSources } from "../turns/conversation/conversation-prompts.ts";
import { earlierResults } from "../turns/conversation/earlier-results.ts";
import { firstCallOf } from "../turns/conversation/first-prompt.ts";
import { ShownPictures } from "../turns/conversation/shown-pictures.ts";
import { StoredConversation } from "../turns/conversation/stored-conversation.ts";
import type { FirstPrompt } from "../turns/conversation/view-context.ts";
import { LiveWatchers, type LiveWatchersOptions } from "../turns/live-watchers.ts";
import { SessionLeases } from "../turns/sessions/session-leases.ts";
import { createSessionService } from "../turns/sessions/session-service.ts";
import { OfferedTools } from "../turns/tool-calls/offered-tools.ts";
import { TurnRunner } from "../turns/turn-runner.ts";
import type { HostAbilities } from "./abilities.ts";
import type { Approvals } from "./approvals.ts";
import type { HostDelivery } from "./channels.ts";
import type { Containers, HostSessions } from "./containers.ts";
import type { AppContext, HostSignals } from "./context.ts";
import type { HostAgents } from "./settings.ts";
import { openOutgoingFiles } from "./storage.ts";

/** Parts of the host that turns work with. */
interface TurnParts {
  readonly abilities: HostAbilities;
  readonly agents: Pick<HostAgents, "agentGroups">;
  readonly approvals: Approvals;
  readonly containers: Containers;
  readonly delivery: HostDelivery;
  readonly groups: GroupRegistry;
  readonly guard: IntakeGuard;
  readonly models: ConfiguredModels;
  readonly sessions: HostSessions;
  readonly signals: Pick<HostSignals, "workAdded">;
}

/** Parts that work on turns and conversations. */
export interface Turns {
  readonly runner: TurnRunner;
  readonly compactions: Compactions;
  readonly firstPrompt: FirstPrompt;
}

/** Builds what works on turns. */
export async function openTurns(context: AppContext, stack: AsyncDisposableStack, parts: TurnParts): Promise<Turns> {
  const { groups, models, guard, containers, sessions } = parts;
  const { patient } = parts.delivery;
  const { store, clock, logger, publish, fingerprint } = patient;
  const leases = new SessionLeases({ leases: store.leases, owner: randomUUID(), clock, logger });
  const offered = createOfferedTools(patient, parts);
  const prompts = createPrompts(patient, parts, offered);
  const formats = createFormats(context, parts.delivery.tell);
  const watchers = createWatchers(patient, parts, formats);
  const { conversation, compactions } = createConversations(patient, parts, { leases, offered, prompts, watchers });
  stack.use(compactions);
  const runner = new TurnRunner({
    store,
    active: sessions.activeTurns,
    leases,
    groups: parts.agents.agentGroups,
    models,
    pool: containers.pool,
    machine: guard,
    conversation,
    calls: parts.approvals.forTurns,
    tools: await createHostTools(context, stack, parts),
    answers: createAnswers(context, parts, formats),
    watchers,
    publish,
    roleOf: patient.roles.roleOf,
    hearingOf: createAccessOf(patient.live, patient.roles),
    fingerprint,
    clock,
    logger,
  });
  const first = { registered: groups, groups: parts.agents.agentGroups, models, offered, prompts };
  return { runner, compactions, firstPrompt: (session) => firstCallOf(first, session) };
}

/** Conversations as models are shown them, and what makes those shorter that outgrow them. */
function createConversations(
  { store, publish, clock, logger, live, roles, fingerprint }: AppContext,
  { abilities: { running, services }, agents, delivery: { deliver }, groups, models }: TurnParts,
  own: {
    readonly leases: SessionLeases;
    readonly offered: OfferedTools;
    readonly prompts: ConversationPrompts;
    readonly watchers: LiveWatchers;
  },
): { readonly conversation: StoredConversation; readonly compactions: Compactions } {
  const { leases, offered, prompts, watchers } = own;
  const { sessions, messages } = store;
  const { jobs, media, memory, subAgents } = services;
  const { pictures } = media;
  const hearingOf = createAccessOf(live, roles);
  const clearing = new ResultClearing({ sessions, cacheWatch: new CacheWatch(publish), now: () => clock.now() });
  const shownPictures = new ShownPictures({ sessions, captions: pictures });
  const before = (session: Session) => subAgents.forkOf(session);
  const shown = new ShownConversations({ store, offered, prompts, before, clearing, pictures: shownPictures });
  const compactor = new Compactor({ store, shown, publish, clock });
  const compactions = new Compactions({
    store,
    leases,
    shown,
    compactor,
    groupOf: (name) => groups.byName(name),
    sessionGroups: agents.agentGroups,
    models,
    before: memory.extract,
    deliver,
    clock,
    logger,
  });
  const conversation = new StoredConversation({
    fit: createFit({ shown, compactor, clearing, logger }),
    answered: (scope, size) => compactions.answered(scope, size),
    clearing,
    watchers,
    prompts,
    offered,
    messages: { messages, pictures, foreword: running.foreword, roleOf: roles.roleOf, hearingOf, fingerprint, clock },
    jobs,
  });
  return { conversation, compactions };
}

function createOfferedTools(
  { store: { sessions, origins }, hasTrait, roles }: AppContext,
  { abilities: { services, tools: hostTools } }: TurnParts,
): OfferedTools {
  const tools = new ConversationTools({
    registryOf: (group) => hostTools.registryOf(group),
    whyMissing: (group, name) => hostTools.whyMissing(group, name),
    sessions,
    channelCan: hasTrait,
  });
  const { media, subAgents: spawning } = services;
  return new OfferedTools({ tools, spawning, pictures: media.pictures, origins, roleOf: roles.roleOf });
}

function createWatchers(
  { deltas: bus, clock }: AppContext,
  { abilities: { running, services, tools }, containers: { mounts }, delivery: { progress }, sessions }: TurnParts,
  formats: ReplyFormats,
): LiveWatchers {
  const deltas = new TurnDeltas({ bus, piecesOf: formats.piecesOf, clock });
  const ending: LiveWatchersOptions["sessions"] = {
    turnEndedIn: (session, turn) => {
      running.turnEnded(turn);
      sessions.sideSessions.settled(session);
    },
  };
  const { subAgents } = services;
  return new LiveWatchers({
    mounts,
    pace: sessions.pace,
    progress,
    deltas,
    tools,
    formats,
    subAgents,
    sessions: ending,
  });
}

async function createHostTools(
  context: AppContext,
  stack: AsyncDisposableStack,
  { abilities: { running, services }, approvals, containers, delivery: { patient }, groups, signals }: TurnParts,
): Promise<HostTools> {
  const files = stack.use(await openOutgoingFiles(context));
  const { store, publish, clock, live, roles } = patient;
  const agentName = (agent: string): string => agentNameOf(live.current, agent);
  const workAdded = (): void => void signals.workAdded.emit();
  const others = { store, publish, clock, roles, agentNameOf: agentName, groups: () => groups.list(), workAdded };
  return {
    portsOf: (scope, signal) => ({
      results: earlierResults(store.turns, scope),
      askForm: (form, until) =>
        approvals.forms.ask({ group: scope.group, session: scope.session.id, turn: scope.turn.id }, form, until),
      ability: (name) => running.portOf(name, scope, signal),
    }),
    sessionsFor: (scope, call) => createSessionService(others, scope, call),
    keepFile: (folder, path) => files.keep(folder, path),
    readCovered: (group, path) => containers.launcher.readCovered(group, path),
    keepVoice: (group, said) => files.keepVoice(group, said),
    keepImage: (image) => services.media.pictures.keepImage(image),
  };
}

function createAnswers(
  { clock }: AppContext,
  { delivery: { deliver, tell }, groups, signals }: TurnParts,
  { formatReply, formatNotice }: ReplyFormats,
): AnswerWriter {
  const tellFailure = createFailureNotices({ tell, groups, clock });
  return { formatReply, formatNotice, tellFailure, deliver, workAdded: () => void signals.workAdded.emit() };
}

function createFormats({ live, adapters, home, publish, clock, logger }: AppContext, tell: TellOperator): ReplyFormats {
  return createReplyFormats({
    secrets: () => secretsOf(live.current, adapters),
    onChange: (changed) => live.onChange(changed),
    homeFolder: home.paths.root,
    tell,
    publish,
    clock,
    logger,
  });
}

function createPrompts(
  { store, clock, home, environment, logger, roles }: AppContext,
  { abilities: { services }, containers: { instructions, launcher, images } }: TurnParts,
  offered: OfferedTools,
): ConversationPrompts {
  const sources: PromptSources = {
    textsOf: () =>
      promptTexts(environment.checkout, home.paths.prompts, ({ file, faults }) =>
        logger.warn({ file, reason: faults.join("; ") }, "a section of the prompt cannot be used"),
      ),
    toolsOf: (scope) => offered.of(scope),
    notesOf: (group) => readAgentNotes(join(home.paths.groups, workFolder(group))),
    instructionsOf: (group, session) => instructions.of(workFolder(group), session.id),
    skillsOf: ({ group, settings }) => leftOf(services.skills.known(group.name), settings.agent.skills),
    foldersOf: (group, kind) => launcher.foldersOf(group.name, kind),
    refusedFoldersOf: ({ name }) => {
      const refused = launcher.refusedMounts().filter(({ group }) => group === name);
      return refused.map(({ target }) => `${containerPaths.extra}/${target}`);
    },
    packagesOf: ({ group, session }) => {
      const packages = launcher.packagesOf(session.id);
      const lacksPackages = images.hasFailed(group.name);
      return { ...(packages !== undefined && { packages }), ...(lacksPackages && { lacksPackages }) };
    },
    reviewNews: new ReviewNews(store.approvals),
    chatOf: ({ channel, chat }) => store.chats.get(channel, chat),
    roleOf: roles.roleOf,
  };
  return new ConversationPrompts({
    sources,
    now: () => clock.now(),
    rewrites: () => store.erasure.rewrites(),
    sessions: store.sessions,
  });
}

/** The providers of the configuration, and the calls of their models. */
export interface HostModels {
  readonly providers: ProviderSet;
  readonly models: ConfiguredModels;
}

/** Opens the models of the configuration; calls wait for trouble of the machine to pass. */
export function openModels(context: AppContext, patient: AppContext, stack: AsyncDisposableStack): HostModels {
  const providers = openProviderSet(context, stack);
  return { providers, models: createConfiguredModels(patient, providers) };
}

/** The providers of the configuration, which follow its changes. */
function openProviderSet(context: AppContext, stack: AsyncDisposableStack): ProviderSet {
  const { live, adapters, store, logger, clock } = context;
  const providers = stack.use(
    new ProviderSet(
      {
        open: (name, settings, silenceMs) =>
          openLateProvider(name, settings, { silenceMs, definitions: adapters.providers }),
        onFault: (error) => logger.warn({ err: toError(error) }, "a model provider could not be closed cleanly"),
        now: () => clock.monotonic(),
      },
      live.current.models,
    ),
  );
  live.onChange(() => providers.configure(live.current.models));
  keepLearned({ live, store, clock, logger }, stack, providers.calibration);
  return providers;
}

/** Model calls for all parts. */
function createConfiguredModels(context: AppContext, providers: ProviderSet): ConfiguredModels {
  const { live, store, blobs, clock, logger, publish } = context;
  return new ConfiguredModels({
    live,
    providers,
    usage: store.usage,
    readImage: (sha256) => blobs.read(sha256),
    estimateTokens: estimatePromptTokens,
    clock,
    random: Math.random,
    wait: sleep,
    logger,
    publish,
  });
}
