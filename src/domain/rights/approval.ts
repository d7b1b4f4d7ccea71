import type { Actor } from "../people/actor.ts";
import type { Origin } from "../people/origin.ts";
import type { Risk, ScriptDigest } from "./policy.ts";
import { isAtLeast, type Role, roles } from "../people/role.ts";
import { reviewOf } from "./review.ts";
import { packageRequest } from "../sandbox/packages.ts";
import { skillProposal } from "../sandbox/skill.ts";

/**
 * `open` until people have decided: `allowed` or `denied`. `expired`: nobody did in time, which is a denial;
 * `cancelled`: its turn ended before. All but the first are final.
 */
export const approvalStates = ["open", "allowed", "denied", "expired", "cancelled"] as const;

export type ApprovalState = (typeof approvalStates)[number];

/**
 * Scopes of an approval, narrowest first: this call; the same tool and input in this conversation; for a day in this
 * group; until revoked.
 */
export const approvalScopes = ["once", "session", "day", "always"] as const;

export type ApprovalScope = (typeof approvalScopes)[number];

/** For whom a turn asks. */
export interface Asker {
  /** `<channel>:<sender id>`, or `operator`. */
  readonly id: string;
  /** Display name, freely chosen. */
  readonly name: string;
  readonly role: Role;
}

/**
 * Questions outside of turns: a server tool's changed description (`description`), a server's form (`form`), or what an
 * agent changed in a folder with review (`review`). All others are about a turn's call.
 */
export const standingQuestions = ["description", "form", "review"] as const;

export type StandingQuestion = (typeof standingQuestions)[number];

/** A proposed change of one of the operator's files, shown to people instead of the call's input. */
export interface ProposedChange {
  /** A unified diff of all of it. */
  readonly diff: string;
  /** SHA-256 of the bytes that it is a change of: when the file has others by then, nothing is written. */
  readonly base: string;
}

/** Returns the words for the changed thing: the group's instructions, or its skill. */
export function changedThing({ about, tool, input }: Pick<NewApproval, "about" | "tool" | "input">): string {
  if (about === "review") return `the folder ${reviewOf({ input }).target}`;
  if (about === "description") return `what ${tool.replaceAll(/[^\w-]/g, "_")} says of itself`;
  if (tool === packageRequest) return "the list of the group's packages";
  if (tool !== skillProposal) return "AGENTS.md";
  const { name } = JSON.parse(input) as { readonly name?: unknown };
  return `the skill ${typeof name === "string" ? name.replaceAll(/[^a-z0-9-]/g, "") : ""}`;
}

/**
 * `waiting`: an agent is at work in the folder of a review. `writing`: it has begun. `changed`: the file had changed
 * meanwhile (of a review: some had, or cannot be applied); `failed`: it could not be written. All but the first two are
 * final.
 */
export const changeOutcomes = ["waiting", "writing", "written", "changed", "failed"] as const;

export type ChangeOutcome = (typeof changeOutcomes)[number];

/** A decided change of a review that stays as it is; `reason` ends a sentence that begins with the path. */
export interface KeptChange {
  readonly path: string;
  readonly reason: string;
}

/** A tool call of the model's that is put to people. */
export interface NewApproval {
  /** Names it where it is answered; not to be guessed, never used again. */
  readonly code: string;
  /** Undefined: a call of a turn's. */
  readonly about?: StandingQuestion | undefined;
  /** Id of the call in the model's answer; empty where it is none. */
  readonly call: string;
  readonly tool: string;
  /** The exact input, as canonical JSON; `sha256` is of this text. */
  readonly input: string;
  readonly sha256: string;
  readonly risk: Risk;
  /** Which rule asks, as people call it. */
  readonly rule: string;
  readonly asker: Asker;
  /** The least role that may answer. */
  readonly approvers: Role;
  /** Number of different people who must allow it. */
  readonly quorum: number;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  readonly expiresAt: number;
  /** Origins of the turn when the call was judged; undefined when not kept. */
  readonly origins?: readonly Origin[] | undefined;
  /** Folder in the container that a command runs in; undefined: the one that shells start in, or no command. */
  readonly directory?: string | undefined;
  /** Scripts that the command runs; undefined: none. */
  readonly scripts?: readonly ScriptDigest[] | undefined;
  /** Widest scope that can be given; undefined: any. */
  readonly widest?: ApprovalScope | undefined;
  /** Proposed change of a file. Such a call can only be allowed once. */
  readonly change?: ProposedChange | undefined;
}

/** The widest scope that people can give. */
export function widestScope({
  about,
  change,
  widest = "always",
}: Pick<NewApproval, "about" | "change" | "widest">): ApprovalScope {
  return change || about ? "once" : widest;
}

/** A person who decided, as named in records and chats. */
export interface Decider {
  /** Stable identity across the person's accounts, counted for a quorum. */
  readonly person: string;
  /** Earlier identities under which this person may have been counted. */
  readonly alsoAs?: readonly string[] | undefined;
  readonly actor: Actor;
  /** Display name, such as `"Ann"` or `the operator`. */
  readonly name: string;
  readonly role: Role;
}

/** An approval as the store keeps it. */
export interface Approval extends NewApproval {
  readonly group: string;
  /** Channel of the question; answers count only there. Empty when only the operator was asked. */
  readonly channel: string;
  readonly chat: string;
  /** This and what follows: of a call of a turn's. */
  readonly session: string | undefined;
  readonly conversation: number | undefined;
  readonly turn: string | undefined;
  /** `seq` of the step with the model's answer. */
  readonly step: number | undefined;
  readonly state: ApprovalState;
  /** Scope, once allowed. */
  readonly scope: ApprovalScope | undefined;
  readonly decidedAt: number | undefined;
  /** The last one who answered; undefined where nobody did. */
  readonly decider: Omit<Decider, "person"> | undefined;
  /** In the words of who denied it. */
  readonly reason: string | undefined;
  /** Number of people who have allowed it so far. */
  readonly votes: number;
  /**
   * When its call was given to the agent, or its denial to the model: from then on nothing is done because of it again.
   */
  readonly releasedAt: number | undefined;
  /** Outcome of an allowed change, or of a decided review. */
  readonly outcome?: ChangeOutcome | undefined;
  /** Decided changes of a review that could not be carried out. */
  readonly kept?: readonly KeptChange[] | undefined;
}

/** Ways to answer: a command with the code, a one-word reply, a reaction to the card, or the operator. */
export type AnswerWay = "command" | "reply" | "reaction" | "operator";

/** The last reaction of somebody to a card, as far as anything came of it. */
export interface CardReaction {
  readonly code: string;
  /** Identity, as in `Decider.person`. */
  readonly person: string;
  /** The channel's id of the person, with the channel's name. */
  readonly id: string;
  /** It was no answer, and this was said. */
  readonly refused: boolean;
}

/** An answer that somebody gives. */
export interface ApprovalAnswer {
  readonly code: string;
  readonly allow: boolean;
  readonly scope: ApprovalScope;
  readonly reason?: string | undefined;
  readonly by: Decider;
  readonly at: number;
  /** The id of the reaction that it is, which is noted with it. */
  readonly reaction?: string | undefined;
  /** Files and folders of a review that it is about; absent: all that are not decided. */
  readonly paths?: readonly string[] | undefined;
}

/**
 * Outcome of an answer. `counted`: more people must allow it. `settled`: already decided, expired or cancelled; nothing
 * changed.
 */
export interface Answered {
  readonly outcome: "allowed" | "denied" | "counted" | "settled";
  /** `counted` before: the same person had allowed it already. */
  readonly again?: boolean | undefined;
  /** The approval after the answer; of a review of which a part was decided, that part. */
  readonly approval: Approval;
}

/**
 * Conditions of a grant besides the call: those of the question that it answered. It covers a call of which the same rule
 * asks no more, for whom no less is due, and in whose turn nothing else was read.
 */
export interface GrantBinding {
  /** The rule that asked. */
  readonly rule: string;
  /** Role of whom it was asked for; calls of lower roles are asked. */
  readonly role: Role;
  /** The least role that answered, and how many people did; stricter rules ask again. */
  readonly approvers: Role;
  readonly quorum: number;
  /** Origins that the turn had read; turns that have read something else, or words of lower roles, are asked. */
  readonly origins: readonly Origin[];
  /** Folder that the command runs in; undefined: the one that shells start in, or no command. */
  readonly directory: string | undefined;
  /** Scripts that the command runs, as they were shown. */
  readonly scripts: readonly ScriptDigest[];
}

/** Does what was allowed under these conditions hold under those of a call? */
export function isBoundTo(grant: GrantBinding, call: GrantBinding): boolean {
  return (
    grant.rule === call.rule &&
    grant.directory === call.directory &&
    JSON.stringify(grant.scripts.map(asPair)) === JSON.stringify(call.scripts.map(asPair)) &&
    isAtLeast(call.role, grant.role) &&
    isAtLeast(grant.approvers, call.approvers) &&
    grant.quorum >= call.quorum &&
    call.origins.every((origin) => isCovered(origin, grant.origins))
  );
}

function asPair({ path, sha256 }: ScriptDigest): readonly (string | undefined)[] {
  return [path, sha256];
}

/** Words of a higher role than some that were read before bring nothing new. */
function isCovered(origin: Origin, read: readonly Origin[]): boolean {
  const role = roles.find((known) => known === origin);
  if (role === undefined) return read.includes(origin);
  return roles.some((known) => read.includes(known) && isAtLeast(role, known));
}

/** Calls that need not be asked again, because people said so. */
export interface Grant extends GrantBinding {
  readonly id: string;
  /** Code of the approval that it comes from. */
  readonly code: string;
  readonly group: string;
  readonly session: string;
  readonly conversation: number;
  readonly tool: string;
  readonly input: string;
  readonly sha256: string;
  readonly scope: Exclude<ApprovalScope, "once">;
  /** The person who gave it. */
  readonly by: string;
  readonly at: number;
  /** Expiry, for scope `day`. */
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
}
