import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { nearest } from "../../lib/text/nearest.ts";
import type { Sender } from "./message.ts";
import type { Origin } from "../people/origin.ts";
import type { OwnReviewSettings } from "../rights/review.ts";
import type { ProtectedFileName } from "../rights/protected-file.ts";

/** `mention`: only when addressed. `always`: every message is for the agent. */
export type Trigger = "mention" | "always";

/** `review`: writable for the agent, but what it changes gets into the folder only when people apply it. */
export const accesses = ["ro", "rw", "review"] as const;

export type Access = (typeof accesses)[number];

/** A host folder that a group asks for; what it gets is decided by the mount rules, never by the request. */
export interface MountRequest {
  readonly source: string;
  readonly target: string;
  readonly access: Access;
  /** Other groups may have (parts of) the same folder, if their mounts say so, too. */
  readonly shared: boolean;
  /** Protection of what programs of the host's user run by themselves, where it is writable. */
  readonly protect: Protection;
  /** Whether its agent sees what looks like secrets in it; `cover` when absent. */
  readonly secrets?: "cover" | "show";
  /** Settings for decisions about changes in it, where they differ from those of its group. */
  readonly review?: OwnReviewSettings | undefined;
}

/**
 * Protection of a folder in which an agent writes at once. `standard`: repositories and the folders of editors and
 * coding agents stay read-only. `strict`: so does all that programs of the host's user run by themselves, and what is
 * new of it waits for people. `none`: nothing does. A list: the standard, and these paths.
 */
export type Protection = (typeof protections)[number] | readonly string[];

export const protections = ["standard", "strict", "none"] as const;

/** True when changes in the folder wait for people, or some of them. */
export function isReviewed({ access, protect }: Pick<MountRequest, "access" | "protect">): boolean {
  return access === "review" || (access === "rw" && protect === "strict");
}

/** Upper bounds for one day (UTC); `undefined` = no bound of that kind. */
export interface BudgetLimits {
  readonly tokensPerDay: number | undefined;
  readonly usdPerDay: number | undefined;
}

/** One of several agents of a group, at work. `folder`: the name of its folder; left out: it has the group's. */
export interface ActingAgent {
  readonly name: string;
  readonly folder?: string | undefined;
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
  /** Id of its agent, of several the first one; `undefined` = the one that every home has. */
  readonly agent?: string | undefined;
  /** Ids of all of its agents where there are several. */
  readonly agents?: readonly string[] | undefined;
  /** The agent at work, in a group with several. */
  readonly acting?: ActingAgent | undefined;
  /** Route of models; `undefined` = the default route. */
  readonly model: string | undefined;
  readonly budget: BudgetLimits;
  /** `config`: from config.yaml, changed only there. `store`: added at run time. */
  readonly origin: "config" | "store";
}

/**
 * A group that was added at run time. `settings`: what it says itself, as a group of config.yaml would; everything else
 * it has from the settings for everybody, as they are at the time.
 */
export interface StoredGroup extends GroupChat {
  readonly settings: Readonly<Record<string, unknown>>;
}

/**
 * A group as the chat that it is now. What another chat has left under the same name (messages, commands, turns) is not
 * this one's.
 */
export type GroupChat = Pick<Group, "name" | "channel" | "chat">;

/** Name of the folder in which the group's agent works: the group's, or its own where it is one of several. */
export function workFolder({ name, acting }: Pick<Group, "name" | "acting">): string {
  return acting?.folder ?? name;
}

/** Name of the folder of an agent beside a group's first one. No group has a name with an @. */
export function agentFolder(group: string, agent: string): string {
  return `${group}@${agent}`;
}

/** The group whose agent works in the folder of this name. */
export function groupOfFolder(folder: string): string {
  return folder.split("@", 1)[0] ?? folder;
}

/** The agent's id for events about this folder; empty for the group's first agent, which uses the group's folder. */
export function agentNamedBy(folder: string): { readonly agent?: string } {
  const [, agent] = folder.split("@", 2);
  return agent === undefined ? {} : { agent };
}

/** The folder of a group, and the chat that it belongs to: the name alone does not give it to another one. */
export interface GroupFolder extends GroupChat {
  /** The instructions that the group's last turn used, by their files. */
  readonly instructions: ReadonlyMap<ProtectedFileName, InstructionsState>;
}

/** `changedAt`: when they were first found to be others than before, milliseconds since 1970; undefined: never. */
export interface InstructionsState {
  /** Origins of what an agent wrote in them and people allowed; none of the operator's. */
  readonly origins: readonly Origin[];
  readonly sha256: string;
  readonly bytes: number;
  readonly changedAt: number | undefined;
}

/** A chat that spoke to us, registered or not: metadata only, never texts. */
export interface Chat {
  readonly channel: string;
  readonly chat: string;
  readonly group: string | undefined;
  readonly firstSeenAt: number;
  readonly lastSeenAt: number;
  readonly messages: number;
  /** Display name of the chat; hostile. */
  readonly title?: string | undefined;
  /** Members of the chat, if the platform reports them; kept for groups only. */
  readonly members?: readonly Sender[] | undefined;
  /** Our account is not in it anymore. */
  readonly left?: boolean | undefined;
  /** It has asked to become a group: `requested` waits for an answer, `denied` is silent. */
  readonly request?: { readonly state: RequestState; readonly code: string } | undefined;
}

export const requestStates = ["requested", "denied"] as const;

export type RequestState = (typeof requestStates)[number];

/**
 * `admission`: a chat of several asks to become a group. `pairing`: somebody writes to us directly; its code is valid
 * for an hour.
 */
export type RequestKind = "admission" | "pairing";

/** A chat in which somebody wanted the agent although it is no group. `code` names it in commands. */
export interface ChatRequest {
  readonly kind: RequestKind;
  readonly code: string;
  readonly channel: string;
  readonly chat: string;
  readonly title: string | undefined;
  readonly sender: Sender;
  readonly state: RequestState;
  readonly at: number;
}

export const pairingLifetimeMs = 3_600_000;

/**
 * Is the code of this request no longer taken? `now` must never go back. A code from the future was made before the
 * clock was set back.
 */
export function isExpired({ kind, at }: Pick<ChatRequest, "kind" | "at">, now: number): boolean {
  return kind === "pairing" && (now >= at + pairingLifetimeMs || now < at);
}

/** The answer to the request with this code. */
export interface RequestSettlement {
  readonly code: string;
  readonly as: "approved" | "denied";
}

/** Bounds on what strangers can ask for, by requests of one kind; pairings are counted for each channel by itself. */
export interface RequestLimits {
  /** Requests that wait for an answer at a time; of one sender. */
  readonly open: number;
  readonly openOfSender: number;
  /** New ones within an hour. */
  readonly perHour: number;
  /** One that was not answered for so long is forgotten. */
  readonly lifetimeMs: number;
}

/** Names that Windows keeps for devices: a folder of that name could not be copied, shared or unpacked there. */
const deviceNames = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/**
 * Returns why this cannot be a group and folder name, as the end of a sentence that begins with it; undefined when
 * valid.
 */
export function groupNameFault(name: string): string | undefined {
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) {
    return "cannot be the name of a group: use at most 64 lower case letters, digits, - and _, starting with a letter or digit";
  }
  if (name === "global") return "cannot be the name of a group: crabpot uses it itself";
  if (deviceNames.test(name)) return "cannot be the name of a group: Windows reserves it for a device";
  return undefined;
}

export function isGroupName(name: string): boolean {
  return groupNameFault(name) === undefined;
}

/** `known` are all names that there are. */
export function unknownGroup(name: string, known: readonly string[]): AppError {
  const meant = nearest(name, known);
  const hint = meant === undefined ? "." : `; did you mean ${meant}?`;
  return new AppError("not_found", `There is no group "${name}"${hint} Known groups: ${known.join(", ") || "none"}.`);
}

/** No chat that asks to become a group has this code. */
export function unknownRequest(code: string): AppError {
  return new AppError("not_found", `There is no request "${code}".`, { fix: ownCommand("chats") });
}
