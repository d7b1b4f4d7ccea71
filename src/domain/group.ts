import type { Sender } from "./message.ts";

/** `mention`: only when addressed. `always`: every message is for the agent. */
export type Trigger = "mention" | "always";

export type Access = "ro" | "rw";

/** A host folder that a group asks for; what it gets is decided by the mount rules, never by the request. */
export interface MountRequest {
  readonly source: string;
  readonly target: string;
  readonly access: Access;
  /** Other groups may have (parts of) the same folder, if their mounts say so, too. */
  readonly shared: boolean;
  /** Paths in it that stay read-only although it is writable. */
  readonly protect: readonly string[];
}

/** What programs of the host's user run by themselves in a folder with a repository. */
export const protectedByDefault: readonly string[] = [".git/hooks", ".git/config"];

export type ToolVerdict = "allow" | "deny";

/** Verdicts by tool name; `default` for tools that are not named. */
export interface ToolPolicy {
  readonly default: ToolVerdict;
  readonly tools: Readonly<Record<string, ToolVerdict>>;
}

/** Upper bounds for one day (UTC); `undefined` = no bound of that kind. */
export interface BudgetLimits {
  readonly tokensPerDay: number | undefined;
  readonly usdPerDay: number | undefined;
}

/** A registered chat. `name` is also its folder below `<home>/groups`. */
export interface Group {
  readonly name: string;
  readonly channel: string;
  readonly chat: string;
  readonly trigger: Trigger;
  /** The owner's own group: needs no mention. */
  readonly main: boolean;
  readonly mounts: readonly MountRequest[];
  /** Route of models; `undefined` = the default route. */
  readonly model: string | undefined;
  readonly policy: ToolPolicy;
  readonly budget: BudgetLimits;
  /** `config`: from config.yaml, changed only there. `store`: added at run time. */
  readonly origin: "config" | "store";
}

/** A chat that spoke to us, registered or not: metadata only, never texts. */
export interface Chat {
  readonly channel: string;
  readonly chat: string;
  readonly group: string | undefined;
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  readonly messages: number;
  /** What people call it; hostile. */
  readonly title?: string | undefined;
  /** Who is in it, as far as its platform says so; kept for groups only. */
  readonly members?: readonly Sender[] | undefined;
  /** Our account is not in it any more. */
  readonly left?: boolean | undefined;
  /** It has asked to become a group: `requested` waits for an answer, `denied` is silent. */
  readonly request?: { readonly state: RequestState; readonly code: string } | undefined;
}

export type RequestState = "requested" | "denied";

/** A chat in which somebody wanted the agent although it is no group. `code` names it in commands. */
export interface ChatRequest {
  readonly code: string;
  readonly channel: string;
  readonly chat: string;
  readonly title: string | undefined;
  readonly sender: Sender;
  readonly state: RequestState;
  readonly at: number;
}

/** Bounds on what strangers can ask for. */
export interface RequestLimits {
  /** Requests that wait for an answer at a time; of one sender. */
  readonly open: number;
  readonly openOfSender: number;
  /** New ones within an hour. */
  readonly perHour: number;
  /** One that was not answered for so long is forgotten. */
  readonly lifetimeMs: number;
}

/** Folder names of groups: lower case, digits, `-` and `_`, at most 64, starting with a letter or digit. Not `global`, not `_template`. */
export function isGroupName(name: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name) && name !== "global";
}
