import { promptTexts } from "../../config/prompts/prompt-files.ts";
import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { agentNameOf } from "../../config/agents.ts";
import { type Group, workFolder } from "../../domain/chats/group.ts";
import { TurnDeltas } from "../../records/events/deltas/turn-deltas.ts";
import type { TurnDeltasOptions } from "../../records/events/deltas/turn-deltas.ts";
import { estimateStepTokens } from "../../turns/context/tokens.ts";
import { createMessageIds } from "../../turns/context/message-ids.ts";
import { localClock } from "../../lib/time/zone-clock.ts";
import { renderMessages } from "../../turns/context/render-messages.ts";
import type { ProviderSet } from "../../models/routes/provider-set.ts";
import { plainSentence } from "../../lib/text/plain-words.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { TurnPace } from "../../intake/limits/turn-pace.ts";
import type { Progress } from "../../delivery/progress.ts";
import type { ReplyFormats } from "../../delivery/reply-redaction.ts";
import { describeActivity } from "../../tools/activity.ts";
import { rightsOf } from "../../tools/sessions/session-rights.ts";
import { ConversationTools, type TurnTools } from "../../tools/conversation-tools.ts";
import type { ConversationToolsOptions } from "../../tools/conversation-tools.ts";
import { createSessionDesk } from "../../turns/sessions/session-desk.ts";
import { ConversationPrompts, type PromptSources } from "../../turns/conversation/conversation-prompts.ts";
import { readAgentNotes } from "../../sandbox/workspace/agent-notes.ts";
import { SessionLeases } from "../../turns/session-leases.ts";
import { TurnRunner } from "../../turns/turn-runner.ts";
import type { ConversationScope, TurnOptions } from "../../turns/turn-options.ts";
import type { Containers } from "../containers/containers.ts";
import { groupForSession } from "../as-agent.ts";
import type { FirstPrompt } from "../capabilities/context-view.ts";
import type { AppContext } from "../context.ts";
import type { Compactions } from "../../turns/compaction/compactions.ts";
import { createConversations } from "./compaction.ts";
import { provenanceOf } from "../../rights/people/principal.ts";
import { summariesOf } from "../capabilities/skills.ts";
import { createPictures } from "../capabilities/pictures.ts";
import { watchAnswer } from "./answer-watches.ts";
import { createConfiguredModels } from "./models.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import { isSessionOf, type Session } from "../../domain/turns/session.ts";
import type { HostTools } from "../capabilities/group-tools.ts";
import type { SubAgents } from "../capabilities/sub-agents.ts";
import { containerPaths } from "../../protocol/paths.ts";

/** What turns are worked on with besides what is the same for all parts of the host. */
type TurnWork = Pick<
  TurnOptions,
  | "askPeople"
  | "futility"
  | "asked"
  | "changeOutcome"
  | "deliver"
  | "workAdded"
  | "untilWritable"
  | "keepFile"
  | "keepVoice"
  | "portsOf"
  | "recall"
  | "formatReply"
  | "formatNotice"
  | "tellFailure"
> & {
  readonly piecesOf: TurnDeltasOptions["piecesOf"];
  readonly beginningOf: ReplyFormats["beginningOf"];
  readonly pace: TurnPace;
  readonly progress: Progress;
  readonly tools: HostTools & Pick<ConversationToolsOptions, "channelCan">;
  readonly providers: ProviderSet;
  readonly agents: SubAgents;
  /** A turn of this session has ended. */
  readonly turnEndedIn: (session: Session, turn: Pick<Turn, "id" | "cause">) => void;
  readonly groups: Pick<GroupRegistry, "list">;
  /** Facts are drawn from what was said in this group, before a summary stands for it. */
  readonly extract: (group: Group, signal: AbortSignal) => Promise<void>;
};

export function createTurns(
  context: AppContext,
  { launcher, images, pool, mounts, instructions, jobs, skills }: Containers,
  { pace, progress, tools, providers, groups, turnEndedIn, agents, piecesOf, beginningOf, extract, ...work }: TurnWork,
): { readonly runner: TurnRunner; readonly compactions: Compactions; readonly firstPrompt: FirstPrompt } {
  const { store, clock, logger } = context;
  const pictures = createPictures(context, providers);
  const { roleOf } = context.roles;
  const { toolsOf, toolsIfBegun } = createToolsOf(context, { tools, agents, pictures });
  const prompts = createPrompts(context, { launcher, images, instructions, skills, toolsOf });
  const sessionDesk = createSessionDesks(context, { groups, workAdded: work.workAdded });
  const deltas = new TurnDeltas({ bus: context.deltas, piecesOf, clock });
  const leases = new SessionLeases({ leases: store.leases, owner: randomUUID(), clock, logger });
  const models = createConfiguredModels(context, providers);
  const holdModels: TurnOptions["holdModels"] = () => models.hold();
  const groupFor: TurnOptions["groupFor"] = (group, session) => groupForSession(context, group, session);
  const { askModel, compactions } = createConversations(context, {
    prompts,
    toolsOf,
    leases,
    holdModels,
    groupFor,
    groups,
    extract,
    deliver: work.deliver,
    captions: pictures.captions,
    watchAnswer: (scope) => watchAnswer(scope, { deltas, progress, beginningOf }),
  });
  const runner = new TurnRunner({
    store,
    leases,
    pool,
    askModel,
    subAgents: agents.forTurns,
    changeSince: (scope) => prompts.changeSince(scope),
    roleOf,
    render: (messages, { settings: { agent, timeZone: zone }, ...more }) => {
      const told = { agentName: agent.name, timeZone: localClock(zone), idOf: createMessageIds(context.fingerprint) };
      return renderMessages({ messages, ...more, ...told });
    },
    ...pictures.forTurns,
    estimateTokens: estimateStepTokens,
    toolsOf,
    takeJobNews: (session, id) => jobs.takeNews(session, id),
    holdModels,
    groupFor,
    sessionDesk,
    ...work,
    publish: context.publish,
    fingerprint: context.fingerprint,
    ...createObservers({ mounts, pace, progress, deltas, turnEndedIn, agents, formatReply: work.formatReply, tools }),
    clock,
    logger,
  });
  return {
    runner,
    compactions,
    firstPrompt: createFirstPrompt({ groups, holdModels, groupFor, prompts, toolsIfBegun }),
  };
}

/** What a turn may call, by what its conversation was offered. */
function createToolsOf(
  { store, roles: { roleOf } }: AppContext,
  {
    tools,
    agents,
    pictures,
  }: Pick<TurnWork, "tools" | "agents"> & { readonly pictures: ReturnType<typeof createPictures> },
): {
  readonly toolsOf: (scope: ConversationScope) => Promise<TurnTools>;
  readonly toolsIfBegun: (scope: ConversationScope) => ReturnType<ConversationTools["ifBegun"]>;
} {
  const conversationTools = new ConversationTools({ ...tools, sessions: store.sessions });
  const traitsOf = async ({ group, session, settings, models }: ConversationScope) => ({
    rights: rightsOf(session.kind, { spawns: await agents.spawning.maySpawn(session) }),
    can: { callTools: models.callsTools(group.model), seeImages: pictures.areOfUse(group) },
    settings,
  });
  return {
    toolsOf: async (scope) => {
      const { group, turn } = scope;
      return conversationTools.of(group, turn, {
        ...(await traitsOf(scope)),
        provenance: () => provenanceOf({ origins: store.origins, roleOf }, group, turn),
      });
    },
    toolsIfBegun: async (scope) => conversationTools.ifBegun(scope.group, await traitsOf(scope)),
  };
}

/** What the first call of a session's conversation would have, if it began now. */
function createFirstPrompt({
  groups,
  holdModels,
  groupFor,
  prompts,
  toolsIfBegun,
}: Pick<ReturnType<typeof createToolsOf>, "toolsIfBegun"> &
  Pick<TurnOptions, "holdModels" | "groupFor"> & {
    readonly groups: Pick<GroupRegistry, "list">;
    readonly prompts: Pick<ConversationPrompts, "ifBegun">;
  }): FirstPrompt {
  return async (session) => {
    const known = groups.list().find((one) => isSessionOf(session, one));
    if (!known) return undefined;
    const { group, settings } = await groupFor(known, session);
    using models = holdModels();
    const { id, conversation } = session;
    const turn = { id: "", session: id, group: group.name, conversation } as Turn;
    const scope = { turn, group, session, settings, models };
    const tools = await toolsIfBegun(scope);
    return { ...(await prompts.ifBegun(scope, tools)), tools: tools.definitions };
  };
}

function createSessionDesks(
  context: AppContext,
  { groups, workAdded }: Pick<TurnWork, "groups" | "workAdded">,
): TurnOptions["sessionDesk"] {
  const { live, roles } = context;
  const options = {
    ...context,
    roleOf: roles.roleOf,
    agentNameOf: (agent: string) => agentNameOf(live.current, agent),
    groups: () => groups.list(),
    workAdded,
  };
  return (scope, call) => createSessionDesk(options, scope, call);
}

/** Who is told how a turn goes. */
function createObservers({
  mounts,
  pace,
  progress,
  deltas,
  turnEndedIn,
  agents,
  formatReply,
  tools: { registry, warm },
}: Pick<Containers, "mounts"> &
  Pick<TurnOptions, "formatReply"> &
  Pick<TurnWork, "tools"> &
  Pick<TurnWork, "pace" | "progress" | "turnEndedIn" | "agents"> & { readonly deltas: TurnDeltas }): Pick<
  TurnOptions,
  "began" | "doing" | "ended" | "parked" | "printing" | "saying"
> {
  return {
    began: ({ group, session, turn }, messages) => {
      mounts.turnBegins(session.id, turn.id);
      pace.began(turn, messages);
      warm(group);
      // Nobody waits in the chat for what was begun in another way.
      if (turn.cause === "message") progress.began(group, turn);
    },
    doing: (scope, calls) => {
      const words = (): string => describeActivity(calls, { registry, redact: (text) => formatReply(text, scope) });
      progress.doing(scope.turn.id, words);
      return calls.length > 0 && deltas.calls(scope, calls, words);
    },
    printing: (scope, piece) => deltas.output(scope, piece),
    saying: (scope, text) => {
      const words = (): string => plainSentence(formatReply(text, scope));
      progress.doing(scope.turn.id, words);
      deltas.doing(scope, words);
    },
    parked: (scope) => {
      const { turn } = scope;
      deltas.over(scope);
      const count = agents.desk.awaitedBy(turn.id).length;
      // Where people are asked, the line ends: it is their turn.
      if (count === 0) progress.ended(turn.id);
      else progress.doing(turn.id, () => (count === 1 ? "a sub-agent is at work" : `${count} sub-agents are at work`));
    },
    ended: (scope) => {
      const { turn, session } = scope;
      deltas.over(scope);
      pace.ended(turn);
      progress.ended(turn.id);
      turnEndedIn(session, turn);
    },
  };
}

function createPrompts(
  context: AppContext,
  options: Pick<PromptSources, "toolsOf"> & Pick<Containers, "launcher" | "images" | "instructions" | "skills">,
): ConversationPrompts {
  const { store, clock, home, environment, logger } = context;
  const { instructions } = options;
  return new ConversationPrompts({
    sessions: store.sessions,
    sources: {
      textsOf: () =>
        promptTexts(environment.checkout, home.paths.prompts, ({ file, faults }) =>
          logger.warn({ file, reason: faults.join("; ") }, "a section of the prompt cannot be used"),
        ),
      toolsOf: options.toolsOf,
      notesOf: (group) => readAgentNotes(join(home.paths.groups, workFolder(group))),
      instructionsOf: (group, session) => instructions.of(workFolder(group), session.id),
      skillsOf: ({ group, settings }) => summariesOf(options.skills.known(group.name), settings),
      foldersOf: (group, kind) => options.launcher.foldersOf(group.name, kind),
      refusedFoldersOf: ({ name }) => {
        const refused = options.launcher.refusedMounts().filter(({ group }) => group === name);
        return refused.map(({ target }) => `${containerPaths.extra}/${target}`);
      },
      packagesOf: ({ group, session }) => {
        const packages = options.launcher.packagesOf(session.id);
        const lacksPackages = options.images.hasFailed(group.name);
        return { ...(packages !== undefined && { packages }), ...(lacksPackages && { lacksPackages }) };
      },
      chatOf: ({ channel, chat }) => store.chats.get(channel, chat),
    },
    estimateTokens: estimateStepTokens,
    now: () => clock.now(),
    rewrites: () => store.erasure.rewrites(),
  });
}
