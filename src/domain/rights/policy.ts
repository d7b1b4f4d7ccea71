import type { Origin } from "../people/origin.ts";
import { isAtLeast } from "../people/role.ts";
import type { Role } from "../people/role.ts";

/** Decisions about a tool call. `ask`: people decide. */
export const actions = ["allow", "ask", "deny"] as const;

export type Action = (typeof actions)[number];

/** Possible harm of a call, least first. */
export const risks = ["low", "medium", "high"] as const;

export type Risk = (typeof risks)[number];

/** Is it this risk or a higher one? */
export function isAtLeastRisk(risk: Risk, least: Risk): boolean {
  return risks.indexOf(risk) >= risks.indexOf(least);
}

/** One role, or those above or below it: `admin`, `>=admin`, `<admin`. */
export type RoleRange = `${"" | "<" | "<=" | ">" | ">="}${Role}`;

export function isInRange(role: Role, range: RoleRange): boolean {
  const [, sign = "", named = ""] = /^([<>]?=?)(.*)$/.exec(range) ?? [];
  const limit = named as Role;
  if (sign === "<") return !isAtLeast(role, limit);
  if (sign === "<=") return isAtLeast(limit, role);
  if (sign === ">") return !isAtLeast(limit, role);
  return sign === ">=" ? isAtLeast(role, limit) : role === limit;
}

/** A rule of a policy: it fits a call when all that it says of the call is so. What it leaves out fits any call. */
export interface Rule {
  /** Display name: `rules[2] of group family`. */
  readonly name: string;
  /** Names of tools; undefined: all. */
  readonly tools?: readonly string[] | undefined;
  /** Any tool but these. */
  readonly exceptTools?: readonly string[] | undefined;
  /** This risk and above. */
  readonly risk?: Risk | undefined;
  /** Range of the asker's role: the least among those whose messages the turn answers. */
  readonly role?: RoleRange | undefined;
  /** The turn has read something of at least one of these. */
  readonly origins?: readonly Origin[] | undefined;
  /** A pattern with `*` for the shell's command, or for the input as JSON. */
  readonly match?: string | undefined;
  readonly action: Action;
  /** Number of people who must allow it, for `ask`; one by default. */
  readonly quorum?: number | undefined;
  /** Least role that may answer, for `ask`; the general setting by default. */
  readonly approvers?: Role | undefined;
  /** It is of a `default` or a preset: what holds for calls that nothing else says anything about. */
  readonly isFallback?: true | undefined;
}

/** Rules in the order in which they are looked at: the first that fits decides; where none does, the call is denied. */
export interface ToolPolicy {
  readonly rules: readonly Rule[];
}

/** The decision about a call. */
export interface Verdict {
  readonly action: Action;
  readonly risk: Risk;
  /** Display name of the deciding rule. */
  readonly rule: string;
  /** For the model, of a call that is denied. */
  readonly reason?: string | undefined;
  readonly quorum?: number | undefined;
  readonly approvers?: Role | undefined;
  /** Input for the tool `shell`, for a call that is a command. */
  readonly command?: CalledCommand | undefined;
}

/** A command as it was judged, which is the one that runs. */
export interface CalledCommand {
  readonly command: string;
  readonly timeout_s: number;
}

/** A verdict as a step keeps it, of the call with this id. */
export interface CallVerdict extends Pick<Verdict, "action" | "risk" | "rule" | "command"> {
  readonly callId: string;
  /** People had allowed it before: how it runs. */
  readonly approved?: ApprovedCommand | undefined;
}

/** A command that people have allowed: in a fresh shell, in this folder, and with these scripts. */
export interface ApprovedCommand {
  readonly directory?: string | undefined;
  readonly scripts?: readonly ScriptDigest[] | undefined;
}

/** A file that a command runs, by the SHA-256 of its bytes when people were asked; undefined: it was missing. */
export interface ScriptDigest {
  /** Absolute, or relative to the folder of the command. */
  readonly path: string;
  readonly sha256?: string | undefined;
}

/** For whom a turn asks, and what it has read. */
export interface Provenance {
  readonly role: Role;
  readonly origins: readonly Origin[];
}
