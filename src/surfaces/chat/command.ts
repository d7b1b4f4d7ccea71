import type { Forms } from "../../rights/approvals/forms/forms.ts";
import type { Approval, ApprovalAnswer } from "../../domain/rights/approval.ts";
import type { FormValue } from "../../domain/rights/form.ts";
import type { Actor } from "../../domain/people/actor.ts";
import type { Group, RequestSettlement } from "../../domain/chats/group.ts";
import type { Job } from "../../domain/work/job.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import type { Role } from "../../domain/people/role.ts";
import type { CodeTries } from "../../rights/people/code-tries.ts";
import type { Roles, Standing } from "../../rights/people/roles.ts";
import type { PendingCommand, SetAside } from "../../stores/contract/store.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { OperationNeeds } from "../operations.ts";
import type { ShownLists } from "./shown-lists.ts";

/** A command to the host in the chat, without the model. */
export interface ChatCommand {
  /** In lower case letters; people write it behind a slash. */
  readonly name: string;
  /** Short description for `/help`. */
  readonly help: string;
  /** Form of the argument, such as `CODE [name]`; absent: none. */
  readonly takes?: string | undefined;
  /** Least role that may use it. */
  readonly needs: Role;
  /** In a group with several agents, the name of the one that it is for may are behind it. */
  readonly perAgent?: boolean | undefined;
  /** It can be given in main groups only. */
  readonly inMainGroups?: boolean | undefined;
  /** It is there only in groups that have a mount with review. */
  readonly needsReview?: boolean | undefined;
  /** It is there only while groups remember things. */
  readonly needsMemory?: boolean | undefined;
  /** Its work is done by operations, which it waits for while the host starts. */
  readonly isOperation?: boolean | undefined;
  /**
   * Computes the outcome. Called again for the same message until the outcome is stored, so it must not have effects.
   */
  run(given: GivenCommand, services: CommandServices): Promise<CommandOutcome>;
}

/** A command given in a group. */
export interface GivenCommand {
  readonly group: Group;
  readonly pending: PendingCommand;
  /** The asker with their role. */
  readonly asker: Standing;
  /** All that the asker may give there. */
  readonly commands: readonly ChatCommand[];
  /** Name of the group's agent. */
  readonly agentName: string;
}

/** An answer to a question; `values`: of a form. */
export interface GivenAnswer {
  readonly to: Approval;
  readonly answer: Omit<ApprovalAnswer, "at">;
  readonly values?: Record<string, FormValue> | undefined;
}

/** Outcome of a command, applied in one transaction. */
export interface CommandOutcome {
  /**
   * The host's answer, undefined where it comes later; a function where it depends on what was stopped, and what there
   * was to stop.
   */
  readonly text: string | undefined | ((ended: SetAside, found: SetAside) => string | undefined);
  /** Ends what runs in the group and drops what waits there, as far as `choose` says. */
  readonly stops?: boolean | undefined;
  /** Selects the work to end; all by default. */
  readonly choose?: ((found: SetAside) => SetAside) | undefined;
  /** The sessions that begin a new conversation. */
  readonly renews?: readonly string[] | undefined;
  /** Sessions whose conversations are to be compacted; what came of it is told then. */
  readonly compacts?: readonly string[] | undefined;
  /** Messages to other chats. */
  readonly outgoing?: readonly OutgoingDraft[] | undefined;
  /** A request of a chat that is answered with it. */
  readonly settles?: RequestSettlement | undefined;
  /** A tool call that is decided with it. */
  readonly answers?: GivenAnswer | undefined;
}

/** One thing that a group remembers, as a chat is shown it. */
export interface ChatMemory {
  readonly id: string;
  readonly category: string;
  readonly text: string;
  readonly time: number;
  readonly sender: string;
  /** People whose words it holds, as `channel:id`. */
  readonly people?: readonly string[] | undefined;
}

/**
 * Memories for a chat: shown and forgotten. `folder`: the name of the group, or of the folder of another agent of it.
 */
export interface MemoryServices {
  isEnabled(): boolean;
  /** Memories, newest first. */
  list(
    folder: string,
    query: { readonly except: "conversation"; readonly isCurrent: true; readonly limit: number },
  ): Promise<readonly ChatMemory[]>;
  get(folder: string, id: string): Promise<ChatMemory | undefined>;
  forget(folder: string, id: string, by: { readonly actor: Actor; readonly why: "command" }): Promise<boolean>;
}

/** Actions on tasks from a chat. */
interface TaskServices {
  /** Time of the next heartbeat; undefined: none. */
  readonly nextHeartbeatOf: (group: string) => number | undefined;
  /** By the clock of the place, with its zone. */
  readonly showTime: (time: number, group: Pick<Group, "name">) => string;
}

/** Answers to requests and approvals by their codes. */
export interface AnswerServices {
  /** Returns the outcome of an answer to a chat that asks to become a group. */
  admit(pending: PendingCommand): Promise<CommandOutcome>;
  /** True when a chat's request has this code. */
  isRequest(code: string): Promise<boolean>;
  /** The approval with this code, in its present state. */
  approvalOf(code: string): Promise<Approval | undefined>;
  /** Forms of servers. */
  readonly forms: Pick<Forms, "read">;
  readonly tries: Pick<CodeTries, "isLocked" | "wrong">;
}

/** Sessions of groups. */
export interface SessionServices {
  /** The main session of an agent of the group. */
  mainOf(group: Group, agent: string): Promise<{ readonly id: string }>;
  /** All sessions of the group. */
  list(group: Group): Promise<readonly { readonly id: string; readonly key: string }[]>;
}

/** Services for commands. */
export interface CommandServices extends TaskServices {
  /** The parts that operations work with; undefined while the host starts. */
  readonly operations: () => OperationNeeds | undefined;
  readonly publish: Publish<"operation.requested" | "operation.ended">;
  /** Name of the group's first agent, or of the one with this id. */
  agentNameOf(group: Group, agent?: string): string;
  readonly memories: MemoryServices;
  /** Lists of memories that were shown in chats. */
  readonly shownLists: ShownLists;
  readonly roles: Pick<Roles, "standingOf" | "keysOf">;
  readonly sessions: SessionServices;
  /** True when an agent of the group is working. */
  readonly isAtWork: (group: Group) => boolean;
  /** True when a requested compaction of this session is unanswered. */
  readonly isCompactionAsked: (session: string) => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Background jobs that run in the group's sessions. */
  readonly jobsOf: (group: Pick<Group, "name">) => readonly Job[];
  readonly answers: AnswerServices;
}
