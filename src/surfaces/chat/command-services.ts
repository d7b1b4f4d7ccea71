import type { AbilityServices } from "../../abilities/catalog.ts";
import type { LiveConfig } from "../../config/changes/live-config.ts";
import { agentNameOf } from "../../config/configured/agents.ts";
import type { SettingsService } from "../../config/serving/settings-service.ts";
import type { Group } from "../../domain/chats/group.ts";
import { leftOf, type Skill } from "../../domain/sandbox/skill.ts";
import type { ContextView } from "../../domain/turns/context-view.ts";
import { isSessionOf, mainSessionKey, type Session } from "../../domain/turns/session.ts";
import type { Job } from "../../domain/work/job.ts";
import type { Admissions } from "../../intake/chats/admissions.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { allReferences } from "../../models/routes/routes.ts";
import type { ApprovalService } from "../../rights/approvals/approval-service.ts";
import { CodeTries } from "../../rights/people/code-tries.ts";
import type { ContainerLauncher } from "../../sandbox/launch/launcher.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { Compactions } from "../../turns/compaction/compactions.ts";
import type { Gateway } from "../http/gateway.ts";
import type { AnswerServices, CommandServices } from "./command.ts";
import { ShownLists } from "./shown-lists.ts";
import { chatSettings } from "./commands/settings/chat-settings.ts";
import { describeStatus, groupBudget, type GroupStatusOptions, totalBudget } from "./group-status.ts";

export interface CommandServicesOptions
  extends
    Pick<CommandServices, "memories" | "publish" | "roles">,
    Pick<AnswerServices, "forms">,
    Pick<GroupStatusOptions, "activeTurns" | "pace" | "pool"> {
  readonly live: Pick<LiveConfig, "current" | "groupOf">;
  readonly store: GroupStatusOptions["store"] & {
    readonly approvals: Pick<Store["approvals"], "get">;
    readonly requests: Store["requests"];
    readonly sessions: Pick<Store["sessions"], "list">;
    readonly usage: Pick<Store["usage"], "sums">;
  };
  readonly admissions: Pick<Admissions, "answer">;
  readonly approvals: Pick<ApprovalService, "endIfOver">;
  readonly compactions: Pick<Compactions, "isAsked">;
  readonly gateway: Pick<Gateway, "operations">;
  readonly heartbeat: Pick<AbilityServices["heartbeat"], "nextOf">;
  readonly jobs: { ofGroup(group: string): readonly Job[] };
  readonly launcher: Pick<ContainerLauncher, "judgeWanted">;
  readonly settings: Pick<SettingsService, "setGroup" | "showGroup">;
  readonly skills: { look(group: string): Promise<readonly Skill[]> };
  readonly tasks: Pick<AbilityServices["tasks"], "showTime">;
  readonly viewContext: (
    session: Session,
    how: { readonly route: string | undefined; readonly listsEntries: boolean },
  ) => Promise<ContextView>;
  readonly clock: Pick<Clock, "now">;
  /** For codes that expire; never goes back. */
  readonly forwardClock: Pick<Clock, "now">;
}

/** Builds the services that chat commands use. */
export function createCommandServices(options: CommandServicesOptions): CommandServices {
  const { live, store, activeTurns, compactions, approvals, heartbeat, tasks, gateway, clock } = options;
  const sessionOf = (group: Group, agent: string): Promise<Session> =>
    store.sessions.open(mainSessionKey({ ...group, agent }), group.name);
  return {
    agentNameOf: (group, agent = group.agent) => agentNameOf(live.current, agent),
    memories: options.memories,
    shownLists: new ShownLists(),
    roles: options.roles,
    sessions: {
      mainOf: sessionOf,
      list: async (group) => (await store.sessions.list()).filter((session) => isSessionOf(session, group)),
    },
    describe: (group) => describeStatus({ ...options, config: live.current }, group),
    isAtWork: (group) => activeTurns.isActive(group.name),
    isCompactionAsked: (session) => compactions.isAsked(session),
    contextOf: async (group, agent) =>
      options.viewContext(await sessionOf(group, agent), { route: group.model, listsEntries: false }),
    usageSums: (...query) => store.usage.sums(...query),
    budgetsOf: (group) => ({ group: groupBudget(live.current, group), total: totalBudget(live.current) }),
    now: () => clock.now(),
    nextHeartbeatOf: (group) => heartbeat.nextOf(group),
    showTime: (time, { name }) => tasks.showTime(time, name),
    operations: () => gateway.operations,
    publish: options.publish,
    settings: {
      ...chatSettings(options.settings, options.launcher),
      routesOf: ({ model }) => {
        const { routes, default: usual } = live.current.models;
        return { all: allReferences(routes), inUse: model ?? usual };
      },
    },
    skillsOf: async (group) => leftOf(await options.skills.look(group.name), live.groupOf(group).agent.skills),
    jobsOf: (group) => options.jobs.ofGroup(group.name),
    answers: {
      admit: (pending) => options.admissions.answer(pending),
      isRequest: async (code) => (await store.requests.get(code)) !== undefined,
      approvalOf: async (code) => {
        await approvals.endIfOver(code);
        return store.approvals.get(code);
      },
      forms: options.forms,
      tries: new CodeTries(store.requests, () => options.forwardClock.now()),
    },
  };
}
