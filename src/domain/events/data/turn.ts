import type { Fingerprint } from "../../fingerprint.ts";
import type { ModelUsage } from "../../turns/model.ts";
import type { Origin } from "../../people/origin.ts";
import type { KeptChange } from "../../rights/approval.ts";
import type { Risk } from "../../rights/policy.ts";
import type { SkillSource } from "../../sandbox/skill.ts";
import type { TurnState, TurnTimes } from "../../turns/turn.ts";

/** A call of the model, with what its turn had read when it was judged. */
type JudgedCall = {
  readonly id: string;
  readonly name: string;
  readonly input: Fingerprint;
  readonly risk: Risk;
  readonly rule: string;
  readonly origins: readonly Origin[];
};

/** A call that people are asked about; `sha256` is of its input as canonical JSON. */
type AskedCall = {
  readonly code: string;
  readonly call: string;
  readonly tool: string;
  readonly sha256: string;
};

/** Effect on changes in a folder with review. */
type ReviewEffect = {
  readonly code: string;
  readonly target: string;
  readonly effect: "apply" | "discard";
};

/** An attempt to send a message of the outbox. */
type DeliveryAttempt = {
  readonly seq: number;
  readonly channel: string;
  readonly chat: string;
  readonly kind: string;
  readonly attempt: number;
  readonly outcome: string;
  readonly sinceMs: number;
};

/** Events about turns: answers, tool calls and approvals. */
export interface TurnEventData {
  /** All that the group's agent has from now on. */
  "skills.settled": {
    readonly skills: readonly { readonly name: string; readonly source: SkillSource; readonly sha256: string }[];
  };
  "skill.refused": { readonly name: string; readonly source: SkillSource | undefined; readonly reason: string };
  "skill.loaded": { readonly name: string; readonly sha256: string; readonly way: "tool" | "message" };
  /** `run`: when, which names it. `news`: those of the outdated that were not told before. */
  "skills.synced": {
    readonly run: string;
    readonly asked: number;
    readonly outdated: readonly { readonly name: string; readonly sha256: string }[];
    readonly news: readonly string[];
    readonly failed: readonly { readonly name: string; readonly reason: string }[];
  };
  /** `sha256`: of all files that it is to have. */
  "skill.changed": { readonly name: string; readonly sha256: string; readonly code: string };
  /** `agent`, here and below: whose memory it is, where it is that of an agent beside the group's first one. */
  "memory.kept": { readonly count: number; readonly agent?: string };
  "memory.extracted": {
    readonly messages: number;
    readonly facts: number;
    readonly refused: number;
    readonly agent?: string;
  };
  "memory.stored": { readonly id: string; readonly category: string; readonly chars: number; readonly agent?: string };
  "memory.forgotten": { readonly ids: readonly string[]; readonly why: string; readonly agent?: string };
  "memory.failed": { readonly reason: string; readonly agent?: string };
  /** `day`: such as `2026-01-15`. */
  "memory.noted": {
    readonly day: string;
    readonly messages: number;
    readonly isKept: boolean;
    readonly agent?: string;
  };
  /** `run`: when it began, which names it. How many memories go, by category, and as superseded ones. */
  "memory.cleaned": {
    readonly run: string;
    readonly categories: Readonly<Record<string, number>>;
    readonly superseded: number;
    readonly agent?: string;
  };
  /** `of`: id of the session that was read. */
  "session.read": { readonly of: string; readonly entries: number };
  /** `to`: id of the session that gets the work. */
  "session.addressed": { readonly to: string; readonly work: string; readonly chars: number };
  "turn.started": {
    readonly resumed: boolean;
    readonly messages: readonly string[];
    readonly senders: readonly string[];
  };
  "turn.ended": {
    readonly state: Exclude<TurnState, "running">;
    readonly reason: string | undefined;
    readonly elapsedMs: number;
    readonly times: TurnTimes;
    /** The agent had nothing to say in the chat. */
    readonly silent?: true | undefined;
  };
  /**
   * A model is about to be asked for a summary of this many entries of a conversation. `why`: `idle`, `asked`, `full`.
   */
  "context.compacting": { readonly why: string; readonly entries: number; readonly tokens: number };
  /** A discarded answer. `reason`: `empty`, `too-long`, `refused`, `loses-identifiers`. */
  "context.refused": { readonly why: string; readonly reason: string; readonly attempt: number };
  /** `tokens`: of what is covered, and of the summary. */
  "context.compacted": {
    readonly why: string;
    readonly entries: number;
    readonly tokens: { readonly before: number; readonly after: number };
    readonly model: string;
    readonly attempts: number;
    readonly elapsedMs: number;
  };
  "context.evicted": { readonly why: string; readonly entries: number; readonly tokens: number };
  "model.requested": { readonly model: string; readonly attempt: number; readonly reservedTokens: number };
  "model.responded": {
    readonly model: string;
    readonly attempt: number;
    readonly outcome: string;
    readonly usage: ModelUsage | undefined;
    readonly usd: number | undefined;
    readonly elapsedMs: number;
  };
  /** `percent`: how much of what the vendor had seen a moment before was read from its cache, in the last `turns`. */
  "cache.missed": {
    readonly session: string;
    readonly model: string;
    readonly turns: number;
    readonly percent: number;
  };
  "tool.called": JudgedCall;
  /** Also one that a person would have to allow, and nobody did. */
  "tool.denied": JudgedCall & { readonly reason: string };
  /** People are asked about a call. */
  "approval.asked": AskedCall & {
    readonly risk: string;
    readonly rule: string;
    readonly asker: string;
    readonly approvers: string;
    readonly quorum: number;
    readonly expiresAt: number;
  };
  /** Somebody answers, before the answer counts: how, and what. */
  "approval.answered": AskedCall & {
    readonly way: string;
    readonly allow: boolean;
    readonly scope: string | undefined;
    readonly role: string;
    /** Paths that are decided, of a review of which only a part is. */
    readonly paths?: readonly string[] | undefined;
  };
  /**
   * A decision about a folder with review is going to be carried out: the first changes with SHA-256 of files before
   * and after, how many there are, and the digest of what people were shown.
   */
  "review.begun": ReviewEffect & {
    readonly digest: string;
    readonly count: number;
    readonly changes: readonly {
      readonly path: string;
      readonly kind: string;
      readonly before: string | undefined;
      readonly after: string | undefined;
    }[];
  };
  /** The first of those that stay as they were, and why. */
  "review.ended": ReviewEffect & { readonly done: number; readonly kept: readonly KeptChange[] };
  /** Outcome: `allowed`, `denied`, `expired` or `cancelled`. The given reason stays out. */
  "approval.decided": AskedCall & {
    readonly state: string;
    readonly scope: string | undefined;
    readonly role: string | undefined;
    readonly hasReason: boolean;
  };
  /** A call is run because people allowed it, or (`grant`) all like it before. */
  "approval.used": AskedCall & {
    readonly scope: string;
    readonly grant: string | undefined;
    readonly by: string;
  };
  /** The operator says that this does not count anymore in a group's folder. */
  "origins.cleared": { readonly origins: readonly Origin[] };
  /** A task is going to be made. */
  "schedule.made": {
    readonly task: string;
    readonly kind: string;
    readonly mode: string;
    readonly missed: string;
    readonly role: string;
  };
  /** Names of what is changed, never the values. */
  "schedule.changed": { readonly task: string; readonly fields: readonly string[] };
  "schedule.paused": { readonly task: string; readonly reason: string };
  "schedule.resumed": { readonly task: string };
  "schedule.removed": { readonly task: string };
  /** A due time is going to be run. */
  "schedule.claimed": { readonly task: string; readonly due: number; readonly lateMs: number };
  /** Due times were passed by while the host was away; the last of them, and how many. */
  "schedule.missed": { readonly task: string; readonly due: number; readonly count: number };
  /** Outcome of a run; with `retryAt` it is retried then. */
  "schedule.ended": {
    readonly task: string;
    readonly due: number;
    readonly state: string;
    readonly failures: number;
    readonly attempts: number;
    readonly retryAt: number | undefined;
  };
  /** SHA-256 and length of the result as it is stored, before the model sees it. */
  "tool.returned": {
    readonly id: string;
    readonly name: string;
    readonly sha256: string;
    readonly bytes: number;
    readonly isError: boolean;
  };
  /** A command goes on in the background; `command` is its length, in characters. */
  "job.started": { readonly id: string; readonly command: number };
  /** `state`: `exited`, `stopped`, `expired`, `lost`. What it printed stays out. */
  "job.ended": {
    readonly id: string;
    readonly state: string;
    readonly exitCode: number | undefined;
    readonly reason: string | undefined;
    readonly elapsedMs: number;
  };
  /** A sub-agent is about to begin for the turn. */
  "agent.started": {
    readonly id: string;
    readonly call: string;
    readonly depth: number;
    readonly background: boolean;
    readonly context: string;
    readonly role: string;
    readonly minutes: number;
  };
  /**
   * Outcome: `done`, `failed`, `cancelled` or `expired`; `files` and `omitted`: number of files handed over and left
   * out.
   */
  "agent.ended": {
    readonly id: string;
    readonly state: string;
    readonly background: boolean;
    readonly depth: number;
    readonly elapsedMs: number;
    readonly files: number;
    readonly omitted: number;
  };
  /** The agent says what it is doing, at most once a second; its words stay out. */
  "agent.progressed": { readonly chars: number };
  /** The agent says why it could not go on. */
  "agent.failed": { readonly claim: string };
  /** The agent asked for what the model had not asked for. */
  "agent.overstepped": { readonly reason: string };
  "mailbox.violated": { readonly reason: string; readonly generation: number };
  /** Secrets were taken out of a text. */
  "reply.redacted": { readonly count: number };
  /** An agent said what looks like secrets that it cannot know, by where they stand in the configuration. */
  "secret.said": {
    readonly group: string;
    readonly session: string;
    readonly turn: string;
    readonly count: number;
    readonly found: readonly string[];
  };
  "delivery.accepted": DeliveryAttempt;
  "delivery.confirmed": DeliveryAttempt;
  /** `outcome` says how: `failed`, `uncertain`, `interrupted`; given up: `dead`, `expired`. */
  "delivery.failed": DeliveryAttempt & { readonly error?: string | undefined };
}
