import type { Actor } from "../people/actor.ts";
import type { Origin } from "../people/origin.ts";
import type { Risk } from "./policy.ts";
import type { Role } from "../people/role.ts";
import { packageRequest } from "../sandbox/packages.ts";
import { skillProposal } from "../sandbox/skill.ts";

/**
 * `open` until people have decided: `allowed` or `denied`. `expired`: nobody did in time, which is a denial;
 * `cancelled`: its turn ended before. All but the first are final.
 */
export const approvalStates = ["open", "allowed", "denied", "expired", "cancelled"] as const;

export type ApprovalState = (typeof approvalStates)[number];

/**
 * How far an approval goes, the narrowest first: this call alone; the same call (tool and exact input) again in this
 * conversation, for a day in this group, or in this group until it is revoked.
 */
export const approvalScopes = ["once", "session", "day", "always"] as const;

export type ApprovalScope = (typeof approvalScopes)[number];

/** For whom a turn asks. */
export interface Asker {
  /** `<channel>:<sender id>`, or `operator`. */
  readonly id: string;
  /** What people see; anybody may choose theirs. */
  readonly name: string;
  readonly role: Role;
}

/**
 * What hangs on no turn, so that none waits for it: what a tool of a server says of itself now (`description`), or
 * values that a server asks people for (`form`). Everything else is a call of a turn's.
 */
export const standingQuestions = ["description", "form"] as const;

export type StandingQuestion = (typeof standingQuestions)[number];

/** What a call would change in a file of the operator's: people are shown this instead of its input. */
export interface ProposedChange {
  /** A unified diff of all of it. */
  readonly diff: string;
  /** SHA-256 of the bytes that it is a change of: when the file has others by then, nothing is written. */
  readonly base: string;
}

/** What a proposed change is a change of, in words: the group's instructions, or a skill of its own. */
export function changedThing({ about, tool, input }: Pick<NewApproval, "about" | "tool" | "input">): string {
  if (about === "description") return `what ${tool.replaceAll(/[^\w-]/g, "_")} says of itself`;
  if (tool === packageRequest) return "the list of the group's packages";
  if (tool !== skillProposal) return "AGENTS.md";
  const { name } = JSON.parse(input) as { readonly name?: unknown };
  return `the skill ${typeof name === "string" ? name.replaceAll(/[^a-z0-9-]/g, "") : ""}`;
}

/**
 * `writing`: it has begun. `changed`: the file had changed meanwhile; `failed`: it could not be written. All but the
 * first are final.
 */
export const changeOutcomes = ["writing", "written", "changed", "failed"] as const;

export type ChangeOutcome = (typeof changeOutcomes)[number];

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
  /** So many different people have to allow it. */
  readonly quorum: number;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  readonly expiresAt: number;
  /** What the turn had read when the call was judged. Undefined: not kept. */
  readonly origins?: readonly Origin[] | undefined;
  /** Of a call that proposes one. It can be allowed once, and not for longer. */
  readonly change?: ProposedChange | undefined;
}

/** Who decided, as records and chats name them. */
export interface Decider {
  /** Who it is, whichever of their accounts they write from: what is counted for a quorum. */
  readonly person: string;
  /** What else they may have been counted as before more was known of them; left out: nothing. */
  readonly alsoAs?: readonly string[] | undefined;
  readonly actor: Actor;
  /** What people see, such as `"Ann"` or `the operator`. */
  readonly name: string;
  readonly role: Role;
}

/** An approval as the store keeps it. */
export interface Approval extends NewApproval {
  readonly group: string;
  /** Where it was asked, and nowhere else in a chat it can be answered. Empty: the operator alone was asked. */
  readonly channel: string;
  readonly chat: string;
  /** This and what follows: of a call of a turn's. */
  readonly session: string | undefined;
  readonly conversation: number | undefined;
  readonly turn: string | undefined;
  /** `seq` of the step with the model's answer. */
  readonly step: number | undefined;
  readonly state: ApprovalState;
  /** Of one that was allowed. */
  readonly scope: ApprovalScope | undefined;
  readonly decidedAt: number | undefined;
  /** The last one who answered; undefined where nobody did. */
  readonly decider: Omit<Decider, "person"> | undefined;
  /** In the words of who denied it. */
  readonly reason: string | undefined;
  /** How many people have allowed it so far. */
  readonly votes: number;
  /**
   * When its call was given to the agent, or its denial to the model: from then on nothing is done because of it again.
   */
  readonly releasedAt: number | undefined;
  /** What has become of a proposed change that was allowed. */
  readonly outcome?: ChangeOutcome | undefined;
}

/**
 * How an answer came: as a command with the code, as a reply of one word, as a reaction to the card, or from the
 * operator.
 */
export type AnswerWay = "command" | "reply" | "reaction" | "operator";

/** The last reaction of somebody to a card, as far as anything came of it. */
export interface CardReaction {
  readonly code: string;
  /** Who it is, as `Decider.person`. */
  readonly person: string;
  /** What the channel calls it, with its name. */
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
}

/**
 * What came of an answer. `counted`: more people have to allow it. `settled`: it had been decided, expired or cancelled
 * before, and nothing was changed.
 */
export interface Answered {
  readonly outcome: "allowed" | "denied" | "counted" | "settled";
  /** `counted` before: the same person had allowed it already. */
  readonly again?: boolean | undefined;
  /** As it is now. */
  readonly approval: Approval;
}

/** Calls that need not be asked again, because people said so. */
export interface Grant {
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
  /** Who gave it. */
  readonly by: string;
  readonly at: number;
  /** Of scope `day`. */
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
}
