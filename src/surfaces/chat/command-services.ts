import type { AbilityServices } from "../../abilities/catalog.ts";
import type { LiveConfig } from "../../config/changes/live-config.ts";
import { agentNameOf } from "../../config/configured/agents.ts";
import { isSessionOf, mainSessionKey } from "../../domain/turns/session.ts";
import type { Job } from "../../domain/work/job.ts";
import type { Admissions } from "../../intake/chats/admissions.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ApprovalService } from "../../rights/approvals/approval-service.ts";
import { CodeTries } from "../../rights/people/code-tries.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { ActiveTurns } from "../../turns/active-turns.ts";
import type { Compactions } from "../../turns/compaction/compactions.ts";
import type { Gateway } from "../http/gateway.ts";
import type { AnswerServices, CommandServices } from "./command.ts";
import { ShownLists } from "./shown-lists.ts";

export interface CommandServicesOptions
  extends Pick<CommandServices, "memories" | "publish" | "roles">, Pick<AnswerServices, "forms"> {
  readonly live: Pick<LiveConfig, "current">;
  readonly store: {
    readonly approvals: Pick<Store["approvals"], "get">;
    readonly requests: Store["requests"];
    readonly sessions: Pick<Store["sessions"], "list" | "open">;
  };
  readonly activeTurns: Pick<ActiveTurns, "isActive">;
  readonly admissions: Pick<Admissions, "answer">;
  readonly approvals: Pick<ApprovalService, "endIfOver">;
  readonly compactions: Pick<Compactions, "isAsked">;
  readonly gateway: Pick<Gateway, "operations">;
  readonly heartbeat: Pick<AbilityServices["heartbeat"], "nextOf">;
  readonly jobs: { ofGroup(group: string): readonly Job[] };
  readonly tasks: Pick<AbilityServices["tasks"], "showTime">;
  readonly clock: Pick<Clock, "now">;
  /** For codes that expire; never goes back. */
  readonly forwardClock: Pick<Clock, "now">;
}

/** Builds the services that chat commands use. */
export function createCommandServices(options: CommandServicesOptions): CommandServices {
  const { live, store, activeTurns, compactions, approvals, heartbeat, tasks, gateway, clock } = options;
  return {
    agentNameOf: (group, agent = group.agent) => agentNameOf(live.current, agent),
    memories: options.memories,
    shownLists: new ShownLists(),
    roles: options.roles,
    sessions: {
      mainOf: (group, agent) => store.sessions.open(mainSessionKey({ ...group, agent }), group.name),
      list: async (group) => (await store.sessions.list()).filter((session) => isSessionOf(session, group)),
    },
    isAtWork: (group) => activeTurns.isActive(group.name),
    isCompactionAsked: (session) => compactions.isAsked(session),
    now: () => clock.now(),
    nextHeartbeatOf: (group) => heartbeat.nextOf(group),
    showTime: (time, { name }) => tasks.showTime(time, name),
    operations: () => gateway.operations,
    publish: options.publish,
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
