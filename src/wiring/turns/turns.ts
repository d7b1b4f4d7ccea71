import { randomUUID } from "node:crypto";
import { join } from "node:path";

import { agentNameOf } from "../../config/agents.ts";
import { workFolder } from "../../domain/group.ts";
import { skillsOf } from "../../config/groups.ts";
import { estimateStepTokens } from "../../context/tokens.ts";
import { createMessageIds } from "../../context/message-ids.ts";
import { renderMessages } from "../../context/render-messages.ts";
import { keepImage } from "../../blobs/keep-image.ts";
import { keepMemberImages } from "../../blobs/member-images.ts";
import { seesImages } from "../../models/capabilities.ts";
import type { ProviderSet } from "../../models/provider-set.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { TurnPace } from "../../intake/limits/turn-pace.ts";
import type { Progress } from "../../delivery/progress.ts";
import { describeActivity } from "../../tools/activity.ts";
import { rightsOf } from "../../tools/sessions/session-rights.ts";
import { ConversationTools } from "../../tools/conversation-tools.ts";
import type { ConversationToolsOptions } from "../../tools/conversation-tools.ts";
import { createAskModel } from "../../turns/conversation/ask-model.ts";
import { createSessionDesk } from "../../turns/sessions/session-desk.ts";
import { ConversationPrompts, type PromptSources } from "../../turns/conversation/conversation-prompts.ts";
import { readAgentNotes } from "../../sandbox/workspace/agent-notes.ts";
import { SessionLeases } from "../../turns/session-leases.ts";
import { TurnRunner } from "../../turns/turn-runner.ts";
import type { TurnOptions } from "../../turns/turn-options.ts";
import type { Containers } from "../containers/containers.ts";
import { asAgent } from "../as-agent.ts";
import type { AppContext } from "../context.ts";
import { provenanceOf } from "./provenance.ts";
import { roomForBlobs } from "../containers/files.ts";
import { narrowSettings } from "../capabilities/profiles.ts";
import { summariesOf } from "../capabilities/skills.ts";
import { createTurnSettings } from "./turn-settings.ts";
import type { Turn } from "../../domain/turn.ts";
import type { Session } from "../../domain/session.ts";
import { stepsBefore } from "../../sub-agents/spawning.ts";
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
  | "portsOf"
  | "recall"
  | "formatReply"
  | "formatNotice"
  | "tellFailure"
> & {
  readonly pace: TurnPace;
  readonly progress: Progress;
  readonly tools: Pick<ConversationToolsOptions, "registry" | "channelCan">;
  readonly providers: ProviderSet;
  readonly agents: SubAgents;
  /** A turn of this session has ended. */
  readonly turnEndedIn: (session: Session, turn: Pick<Turn, "id" | "cause">) => void;
  readonly groups: Pick<GroupRegistry, "list">;
};

export function createTurns(
  context: AppContext,
  { launcher, pool, mounts, instructions, jobs, skills }: Containers,
  { pace, progress, tools, providers, groups, turnEndedIn, agents, ...work }: TurnWork,
): TurnRunner {
  const { config, store, clock, logger } = context;
  const idOf = createMessageIds(context.fingerprint);
  const conversationTools = new ConversationTools({ ...tools, sessions: store.sessions });
  const { roleOf } = context.roles;
  const toolsOf: TurnOptions["toolsOf"] = async ({ group, session, turn, settings }) =>
    conversationTools.of(group, turn, {
      rights: rightsOf(session.kind, { spawns: await agents.spawning.maySpawn(session) }),
      can: { callTools: settings.callsTools(group.model), seeImages: seesImages(config.models, group.model) },
      remembers: context.live.current.memory.enabled,
      hasSkills: skillsOf(context.live.current, group.name) !== "none",
      seesSessions: settings.sessionVisibility(group) !== undefined,
      policy: settings.policyFor(group),
      writersOfShared: settings.writersOfShared(group),
      provenance: () => provenanceOf({ origins: store.origins, roleOf }, group, turn),
    });
  const prompts = createPrompts(context, { launcher, instructions, skills, toolsOf });
  const hasRoom = roomForBlobs(context);
  const sessionDesk = createSessionDesks(context, { groups, workAdded: work.workAdded });
  const leases = new SessionLeases({ leases: store.leases, owner: randomUUID(), clock, logger });
  return new TurnRunner({
    store,
    leases,
    pool,
    askModel: createAskModel({ store, toolsOf, prompts, before: (session) => stepsBefore(store, session) }),
    subAgents: agents.forTurns,
    changeSince: (scope) => prompts.changeSince(scope),
    roleOf,
    render: (messages, { settings: { agentName, timeZone }, ...more }) =>
      renderMessages({ messages, ...more, agentName, timeZone, idOf }),
    imagesOf: createImagesOf(context),
    keepImage: (image) => keepImage({ blobs: context.blobs, hasRoom }, image),
    estimateTokens: estimateStepTokens,
    toolsOf,
    takeJobNews: (session, id) => jobs.takeNews(session, id),
    settings: createTurnSettings(context, providers),
    narrow: (session, settings) => narrowSettings(context, session, settings),
    sessionDesk,
    asAgent: (group, agent) => asAgent(context, group, agent),
    ...work,
    publish: context.publish,
    fingerprint: context.fingerprint,
    ...createObservers({
      mounts,
      pace,
      progress,
      turnEndedIn,
      agents,
      formatReply: work.formatReply,
      registry: tools.registry,
    }),
    clock,
    logger,
  });
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
  turnEndedIn,
  agents,
  formatReply,
  registry,
}: Pick<Containers, "mounts"> &
  Pick<TurnOptions, "formatReply"> &
  Pick<ConversationToolsOptions, "registry"> &
  Pick<TurnWork, "pace" | "progress" | "turnEndedIn" | "agents">): Pick<
  TurnOptions,
  "began" | "doing" | "ended" | "parked"
> {
  return {
    began: ({ group, session, turn }, messages) => {
      mounts.turnBegins(session.id, turn.id);
      pace.began(turn, messages);
      // Nobody waits in the chat for what was begun in another way.
      if (turn.cause === "message") progress.began(group, turn);
    },
    doing: (scope, calls) => {
      progress.doing(scope.turn.id, () =>
        describeActivity(calls, { registry, redact: (text) => formatReply(text, scope) }),
      );
    },
    parked: ({ turn }) => {
      const count = agents.desk.awaitedBy(turn.id).length;
      // Where people are asked, the line ends: it is their turn.
      if (count === 0) progress.ended(turn.id);
      else progress.doing(turn.id, () => (count === 1 ? "a sub-agent is at work" : `${count} sub-agents are at work`));
    },
    ended: ({ turn, session }) => {
      pace.ended(turn);
      progress.ended(turn.id);
      turnEndedIn(session, turn);
    },
  };
}

function createPrompts(
  context: AppContext,
  options: Pick<PromptSources, "toolsOf"> & Pick<Containers, "launcher" | "instructions" | "skills">,
): ConversationPrompts {
  const { store, clock, home } = context;
  const { instructions } = options;
  return new ConversationPrompts({
    sessions: store.sessions,
    sources: {
      toolsOf: options.toolsOf,
      notesOf: (group) => readAgentNotes(join(home.paths.groups, workFolder(group))),
      instructionsOf: (group, session) => instructions.of(workFolder(group), session.id),
      skillsOf: ({ group, settings }) => summariesOf(options.skills.known(group.name), settings),
      foldersOf: (group, kind) => options.launcher.foldersOf(group.name, kind),
      refusedFoldersOf: ({ name }) => {
        const refused = options.launcher.refusedMounts().filter(({ group }) => group === name);
        return refused.map(({ target }) => `${containerPaths.extra}/${target}`);
      },
      chatOf: ({ channel, chat }) => store.chats.get(channel, chat),
    },
    estimateTokens: estimateStepTokens,
    now: () => clock.now(),
    rewrites: () => store.erasure.rewrites(),
  });
}

/** None where no model of the group's route can see. */
function createImagesOf(context: AppContext): TurnOptions["imagesOf"] {
  const { config, blobs, home, logger } = context;
  const hasRoom = roomForBlobs(context);
  return async (group, messages) => {
    if (!seesImages(config.models, group.model)) return new Map();
    return keepMemberImages({ blobs, groupsFolder: home.paths.groups, hasRoom, logger }, group.name, messages);
  };
}
