import type { Forms } from "../../rights/approvals/forms/forms.ts";
import type { Approval, ApprovalAnswer } from "../../domain/rights/approval.ts";
import type { FormValue } from "../../domain/rights/form.ts";
import type { ContextView } from "../../domain/turns/context-view.ts";
import type { BudgetLimits, Group, RequestSettlement } from "../../domain/chats/group.ts";
import type { Job } from "../../domain/work/job.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import type { Role } from "../../domain/people/role.ts";
import type { CodeTries } from "../../rights/people/code-tries.ts";
import type { Roles, Standing } from "../../rights/people/roles.ts";
import type { SettingChange } from "../../domain/settings/setting.ts";
import type { SkillSummary } from "../../domain/sandbox/skill.ts";
import type { PendingCommand, SetAside } from "../../stores/contract/store.ts";
import type { UsageStore } from "../../stores/contract/usage-store.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { OperationNeeds } from "../operations.ts";
import type { ShownItem, ShownLists } from "./shown-lists.ts";

/** What members can ask of the host in the chat, without the model. */
export interface ChatCommand {
  /** In lower case letters; people write it behind a slash. */
  readonly name: string;
  /** What it does, in a few words for `/help`. */
  readonly help: string;
  /** Form of the argument, such as `CODE [name]`; absent: none. */
  readonly takes?: string | undefined;
  /** The least role of somebody who may give it. */
  readonly needs: Role;
  /** In a group with several agents, the name of the one that it is for may stand behind it. */
  readonly perAgent?: boolean | undefined;
  /** It can be given in main groups only. */
  readonly inMainGroups?: boolean | undefined;
  /** It is there only while groups remember things. */
  readonly needsMemory?: boolean | undefined;
  /** Its work is done by operations, which it waits for while the host starts. */
  readonly isOperation?: boolean | undefined;
  /**
   * What comes of it. Called again for the same message as long as that was not written, so it must not do anything
   * twice.
   */
  run(given: GivenCommand, services: CommandServices): Promise<CommandOutcome>;
}

/** A command that somebody gave in a group. */
export interface GivenCommand {
  readonly group: Group;
  readonly pending: PendingCommand;
  /** Who gave it, and what they are there. */
  readonly asker: Standing;
  /** All that the asker may give there. */
  readonly commands: readonly ChatCommand[];
  /** What the group's agent is called. */
  readonly agentName: string;
}

/** What somebody answers to what was asked; `values`: to a form. */
export interface GivenAnswer {
  readonly to: Approval;
  readonly answer: Omit<ApprovalAnswer, "at">;
  readonly values?: Record<string, FormValue> | undefined;
}

/** What is going to happen, all at once. */
export interface CommandOutcome {
  /**
   * The host's answer, undefined where it comes later; a function where it depends on what was stopped, and what there
   * was to stop.
   */
  readonly text: string | undefined | ((ended: SetAside, found: SetAside) => string);
  /** Ends what runs in the group and drops what waits there, as far as `choose` says. */
  readonly stops?: boolean | undefined;
  /** What of it is ended; left out: all. */
  readonly choose?: ((found: SetAside) => SetAside) | undefined;
  /** The sessions that begin a new conversation. */
  readonly renews?: readonly string[] | undefined;
  /** Sessions whose conversations are to be compacted; what came of it is told then. */
  readonly compacts?: readonly string[] | undefined;
  /** What is said in other chats. */
  readonly outgoing?: readonly OutgoingDraft[] | undefined;
  /** A request of a chat that is answered with it. */
  readonly settles?: RequestSettlement | undefined;
  /** A tool call that is decided with it. */
  readonly answers?: GivenAnswer | undefined;
}

/** What somebody wants a group to have. */
export interface WantedSetting {
  readonly group: string;
  readonly key: string;
  readonly value: string;
  /** The id of who wants it, on their channel. */
  readonly by: string;
}

export interface ChatSetting {
  readonly path: string;
  readonly value: unknown;
  readonly from: string;
}

export interface ChatMount {
  readonly target: string;
  readonly source: string;
  readonly verdict: "ro" | "rw" | "denied";
  /** Which kind of rule refused it. */
  readonly rule?: string;
  readonly reason: string;
}

/** One thing that a group remembers, as a chat is shown it. */
export interface ChatMemory {
  readonly id: string;
  readonly category: string;
  readonly text: string;
  readonly time: number;
  readonly sender: string;
  /** Whose words it holds, as `channel:id`. */
  readonly people?: readonly string[] | undefined;
}

/** What a chat is shown of what its group remembers, and may have forgotten. */
export interface MemoryServices {
  readonly isEnabled: () => boolean;
  /**
   * Facts and notes that hold, newest first. `folder`: the name of the group, or of the folder of another agent of it.
   */
  readonly newest: (folder: string, limit: number) => Promise<readonly ChatMemory[]>;
  readonly get: (folder: string, id: string) => Promise<ChatMemory | undefined>;
  readonly forget: (given: GivenCommand, item: ShownItem) => Promise<void>;
  readonly lists: ShownLists;
}

/** Routes of models by name, each with its models in the order in which they are tried. */
export interface ModelRoutes {
  readonly all: Readonly<Record<string, readonly string[]>>;
  /** The one by which a group's agent is answered. */
  readonly inUse: string;
}

/** What is done with tasks in a chat. */
interface TaskServices {
  /** When the group's agent looks next at what its HEARTBEAT.md says; undefined: it does not. */
  readonly nextHeartbeatOf: (group: string) => number | undefined;
  /** By the clock of the place, with its zone. */
  readonly showTime: (time: number, group: Pick<Group, "name">) => string;
}

/** What commands are carried out with. */
export interface CommandServices extends TaskServices {
  /** The parts that operations work with; undefined while the host starts. */
  readonly operations: () => OperationNeeds | undefined;
  readonly publish: Publish<"operation.requested" | "operation.ended">;
  /** Of the group's first agent, or of the one of this id. */
  agentNameOf(group: Group, agent?: string): string;
  readonly memories: MemoryServices;
  readonly roles: Pick<Roles, "standingOf" | "keysOf">;
  /** The main session of an agent of the group. */
  readonly sessionOf: (group: Group, agent: string) => Promise<{ readonly id: string }>;
  /** All sessions of the group. */
  readonly sessionsOf: (group: Group) => Promise<readonly { readonly id: string; readonly key: string }[]>;
  /** What a member may know of how things stand, a few lines. */
  readonly describe: (group: Group) => Promise<string>;
  /** Does an agent of the group work at this moment? */
  readonly isAtWork: (group: Group) => boolean;
  /** Has somebody asked for this session to be compacted, and not been told yet what came of it? */
  readonly isCompactionAsked: (session: string) => boolean;
  /** What stands in the prompts of the main session of an agent. */
  readonly contextOf: (group: Group, agent: string) => Promise<ContextView>;
  /** What calls of models have used: the same figures as `crabpot usage`. */
  readonly usageSums: UsageStore["sums"];
  /** What a group may use in a day, and what all groups together may. */
  readonly budgetsOf: (group: Group) => { readonly group: BudgetLimits; readonly total: BudgetLimits };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Changes a setting of a group; the value is YAML. What changed and when it holds; nothing where it was so already.
   * Rejects with AppErrors.
   */
  readonly changeSetting: (wanted: WantedSetting) => Promise<readonly SettingChange[]>;
  /** Every setting of a group, secrets masked, and where it comes from. Rejects with `not_found`. */
  readonly settingsOf: (group: string) => Promise<readonly ChatSetting[]>;
  /** What may be set as the group's `model`. */
  readonly routesOf: (group: Group) => ModelRoutes;
  /** What each folder that the group asks for would get now. */
  readonly mountsOf: (group: Group) => Promise<readonly ChatMount[]>;
  /** What its agent can read up on. */
  readonly skillsOf: (group: Pick<Group, "name" | "agent">) => Promise<readonly SkillSummary[]>;
  /** Background jobs that run in the group's sessions. */
  readonly jobsOf: (group: Pick<Group, "name">) => readonly Job[];
  /** What comes of an answer to a chat that asks to become a group. */
  readonly answer: (pending: PendingCommand) => Promise<CommandOutcome>;
  /** Does a chat ask by this code? */
  readonly isRequest: (code: string) => Promise<boolean>;
  /** What people were asked by this code, as it is now. */
  readonly approvalOf: (code: string) => Promise<Approval | undefined>;
  /** What servers ask for. */
  readonly forms: Pick<Forms, "read">;
  readonly codeTries: Pick<CodeTries, "isLocked" | "wrong">;
}
