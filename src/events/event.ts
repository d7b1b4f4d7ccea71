import type { Actor } from "../domain/actor.ts";
import type { Destination } from "../domain/egress.ts";
import type { Fingerprint } from "../domain/fingerprint.ts";
import type { ModelUsage } from "../domain/model.ts";
import type { ExecutionPointChange, SetIdFile } from "../domain/mount.ts";
import type { Origin } from "../domain/origin.ts";
import type { Risk } from "../domain/policy.ts";
import type { TurnState, TurnTimes } from "../domain/turn.ts";

/** Data of an event that its type says all of. */
type Nothing = Readonly<Record<string, never>>;

/**
 * What each type of event says. Texts that people or agents wrote stay out, except for `command.given` (the words behind the
 * command), `agent.failed` and `agent.overstepped` (what the agent says or did), and names of files. What names other groups
 * has no `group` of its own, so that it never reaches a reader of that group's events: its data says whom it is about.
 */
export interface EventData {
  "host.started": { readonly version: string; readonly node: string; readonly pid: number; readonly instance: string };
  "host.stopped": Nothing;
  /** The home is a copy of another one, or was one, and gets an id of its own. Paths of folders. */
  "home.copied": {
    readonly from: string;
    readonly to: string;
    readonly formerInstance: string;
    readonly instance: string;
  };
  "config.loaded": { readonly sha256: string; readonly fromFile: boolean };
  /** A changed config.yaml holds. Paths of the settings that changed, and of those that need a restart; never their values. */
  "config.applied": {
    readonly sha256: string;
    readonly fromFile: boolean;
    readonly changed: readonly string[];
    readonly restart: readonly string[];
  };
  /** What a group that was added at run time says itself is going to be changed. Paths of settings, never their values. */
  "settings.changed": { readonly paths: readonly string[] };
  /** A changed file cannot be used. Paths of the settings that are wrong, or names of files. */
  "config.refused": { readonly paths: readonly string[] };
  "engine.judged": {
    readonly kind: string;
    readonly version: string;
    readonly components: Readonly<Record<string, string>>;
    readonly kernel: string;
    readonly findings: readonly string[];
  };
  "memory.kept": { readonly count: number };
  "memory.extracted": { readonly messages: number; readonly facts: number; readonly refused: number };
  "memory.stored": { readonly id: string; readonly category: string; readonly chars: number };
  "memory.forgotten": { readonly ids: readonly string[]; readonly why: string };
  /** `of`: id of the session that was read. */
  "session.read": { readonly of: string; readonly entries: number };
  /** `to`: id of the session that gets the work. */
  "session.addressed": { readonly to: string; readonly work: string; readonly chars: number };
  /** Counts of what was removed. */
  "store.pruned": {
    readonly messages: number;
    readonly steps: number;
    readonly replies: number;
    readonly chats: number;
    readonly days: number;
    readonly approvals?: number | undefined;
    readonly events?: number | undefined;
    readonly blobs?: number | undefined;
  };
  "channel.changed": { readonly channel: string; readonly state: string; readonly detail?: string | undefined };
  /** What the operator asked for; `outcome` is `asked`. */
  "operation.requested": {
    readonly operation: string;
    readonly parameters: Readonly<Record<string, string | number | boolean>>;
    readonly outcome: string;
  };
  /** How a change that the operator asked for ended: `done`, or the error's code. */
  "operation.ended": {
    readonly operation: string;
    readonly parameters: Readonly<Record<string, string | number | boolean>>;
    readonly outcome: string;
  };
  "http.refused": {
    readonly status: number;
    readonly method: string;
    readonly route: string;
    readonly address: string;
    readonly untold: number;
  };
  "message.received": {
    readonly channel: string;
    readonly chat: string;
    readonly id: string;
    readonly seq: number;
    readonly rule: string;
    readonly state: string;
    readonly chars: number;
    readonly attachments: number;
    readonly held?: string | undefined;
  };
  /** `delivery` is the number that its sender gave it, `work` what it has caused. */
  "webhook.received": {
    readonly hook: string;
    readonly work: string;
    readonly delivery: string | undefined;
    readonly bytes: number;
    readonly duplicate: boolean;
  };
  /** `reason` in one word; `untold` ones of the same kind came before it. */
  "webhook.refused": { readonly hook: string; readonly reason: string; readonly untold: number };
  /** `due` is the moment of the beat, `work` what it causes. */
  "heartbeat.begun": { readonly work: string; readonly due: number };
  /** `reason` in one word: `budget`, `busy`, `file`, `hours`. */
  "heartbeat.skipped": { readonly due: number; readonly reason: string };
  /** What somebody wanted is not done; `rule` says why: a setting, or the role that a command needs. */
  "access.refused": {
    readonly rule: string;
    readonly channel: string;
    readonly chat: string;
    readonly command?: string | undefined;
  };
  "command.given": { readonly command: string; readonly argument?: string | undefined; readonly id: string };
  "intake.stopped": { readonly code: string; readonly reason: string };
  "intake.resumed": { readonly seconds: number };
  "admission.requested": { readonly channel: string; readonly chat: string; readonly code: string };
  /** Somebody who wrote directly has got a code. */
  "pairing.requested": { readonly channel: string; readonly chat: string };
  /** The direct chat of this person is let in; `id` as the channel has it. */
  "person.paired": { readonly channel: string; readonly chat: string; readonly id: string };
  "chat.left": { readonly channel: string; readonly chat: string };
  "group.added": {
    readonly name: string;
    readonly channel: string;
    readonly chat: string;
    readonly code?: string | undefined;
  };
  "group.removed": Nothing;
  /** The chat that the folder was before may be another group's. */
  "folder.adopted": {
    readonly group: string;
    readonly from: { readonly channel: string; readonly chat: string } | undefined;
    readonly to: { readonly channel: string; readonly chat: string };
    readonly by: string;
  };
  "instructions.changed": {
    readonly file: string;
    readonly bytes: number;
    readonly sha256: string;
    readonly before: { readonly bytes: number; readonly sha256: string };
  };
  "file.refused": { readonly file: string; readonly reason: string; readonly movedTo?: string | undefined };
  /** `value` and `text` of limits of containers and turns, `allowed` of those of the intake. */
  "limit.reached": {
    readonly limit: string;
    readonly value?: number | undefined;
    readonly text?: string | undefined;
    readonly unreported?: number | undefined;
    readonly allowed?: number | undefined;
    readonly channel?: string | undefined;
    readonly chat?: string | undefined;
    readonly restSeconds?: number | undefined;
    readonly messages?: number | undefined;
  };
  /** `limit` is a budget's; amounts are in US dollars or tokens. */
  "budget.warned": { readonly limit: string; readonly used: number; readonly allowed: number };
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
  "model.requested": { readonly model: string; readonly attempt: number; readonly reservedTokens: number };
  "model.responded": {
    readonly model: string;
    readonly attempt: number;
    readonly outcome: string;
    readonly usage: ModelUsage | undefined;
    readonly usd: number | undefined;
    readonly elapsedMs: number;
  };
  /** `origins`: what its turn had read when it was judged. */
  "tool.called": {
    readonly id: string;
    readonly name: string;
    readonly input: Fingerprint;
    readonly risk: Risk;
    readonly rule: string;
    readonly origins: readonly Origin[];
  };
  /** Also one that a person would have to allow, and nobody did. */
  "tool.denied": {
    readonly id: string;
    readonly name: string;
    readonly input: Fingerprint;
    readonly risk: Risk;
    readonly rule: string;
    readonly origins: readonly Origin[];
    readonly reason: string;
  };
  /** People are asked about a call; `sha256` is of its input as canonical JSON. */
  "approval.asked": {
    readonly code: string;
    readonly call: string;
    readonly tool: string;
    readonly sha256: string;
    readonly risk: string;
    readonly rule: string;
    readonly asker: string;
    readonly approvers: string;
    readonly quorum: number;
    readonly expiresAt: number;
  };
  /** Somebody answers, before the answer counts: how, and what. */
  "approval.answered": {
    readonly code: string;
    readonly call: string;
    readonly tool: string;
    readonly sha256: string;
    readonly way: string;
    readonly allow: boolean;
    readonly scope: string | undefined;
    readonly role: string;
  };
  /** How it ended: `allowed`, `denied`, `expired` or `cancelled`. The reason that was given stays out. */
  "approval.decided": {
    readonly code: string;
    readonly call: string;
    readonly tool: string;
    readonly sha256: string;
    readonly state: string;
    readonly scope: string | undefined;
    readonly role: string | undefined;
    readonly hasReason: boolean;
  };
  /** A call is run because people allowed it, or (`grant`) all like it before. */
  "approval.used": {
    readonly code: string;
    readonly call: string;
    readonly tool: string;
    readonly sha256: string;
    readonly scope: string;
    readonly grant: string | undefined;
    readonly by: string;
  };
  /** The operator says that this does not count any more in a group's folder. */
  "origins.cleared": { readonly origins: readonly Origin[] };
  /** SHA-256 and length of the result as it is stored, before the model sees it. */
  "tool.returned": {
    readonly id: string;
    readonly name: string;
    readonly sha256: string;
    readonly bytes: number;
    readonly isError: boolean;
  };
  /** The agent says what it is doing, at most once a second; its words stay out. */
  "agent.progressed": { readonly chars: number };
  /** The agent says why it could not go on. */
  "agent.failed": { readonly claim: string };
  "agent.overstepped": { readonly reason: string };
  "mailbox.violated": { readonly reason: string; readonly generation: number };
  "egress.judged": {
    readonly verdict: "allowed" | "refused" | "failed" | "masked" | "barred" | "closed";
    readonly rule: string;
    readonly destination?: Destination | undefined;
    readonly address?: string | undefined;
    readonly bytesUp?: number | undefined;
    readonly bytesDown?: number | undefined;
    readonly ms?: number | undefined;
  };
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
  "delivery.accepted": {
    readonly seq: number;
    readonly channel: string;
    readonly chat: string;
    readonly kind: string;
    readonly attempt: number;
    readonly outcome: string;
    readonly sinceMs: number;
  };
  "delivery.confirmed": {
    readonly seq: number;
    readonly channel: string;
    readonly chat: string;
    readonly kind: string;
    readonly attempt: number;
    readonly outcome: string;
    readonly sinceMs: number;
  };
  /** `outcome` says how: `failed`, `uncertain`, `interrupted`; given up: `dead`, `expired`. */
  "delivery.failed": {
    readonly seq: number;
    readonly channel: string;
    readonly chat: string;
    readonly kind: string;
    readonly attempt: number;
    readonly outcome: string;
    readonly sinceMs: number;
    readonly error?: string | undefined;
  };
  /** Why a mount is refused may name another group. */
  "mounts.judged": {
    readonly group: string;
    readonly session: string;
    readonly mounts: readonly {
      readonly source: string;
      readonly target: string;
      readonly verdict: string;
      readonly reason: string | undefined;
      readonly secrets?: readonly unknown[] | undefined;
    }[];
  };
  "mount.refused": { readonly refused: string };
  "secrets.appeared": {
    readonly secrets: readonly { readonly target: string; readonly path: string }[];
    readonly count: number;
  };
  "setuid.removed": { readonly files: readonly SetIdFile[]; readonly count: number };
  "execution-point.changed": {
    readonly target: string;
    readonly path: string;
    readonly kind: string;
    readonly change: ExecutionPointChange["change"];
  };
  /** After all that one look has found: how many there were, and the first few. */
  "execution-points.counted": {
    readonly count: number;
    readonly omitted: number;
    readonly first: readonly ExecutionPointChange[];
  };
  "container.created": {
    readonly name: string;
    readonly spec: string;
    readonly body: string;
    readonly image: string;
    readonly uid: number;
    readonly mounts: readonly { readonly realPath: string; readonly target: string; readonly verdict: string }[];
  };
  "container.started": { readonly name: string; readonly container: string };
  "container.attested": {
    readonly name: string;
    readonly container: string;
    readonly generation: number;
    readonly elapsedMs: number;
  };
  "container.adopted": { readonly name: string; readonly container: string; readonly generation: number };
  "container.frozen": { readonly name: string };
  "container.thawed": { readonly name: string; readonly elapsedMs: number };
  "container.refused": { readonly reason: string };
  "container.stopped": {
    readonly name: string;
    readonly container: string;
    readonly generation: number;
    readonly reason: string;
  };
  /** One that nobody used any more. */
  "container.removed": { readonly name: string; readonly reason: string };
  /** A full log of a session was closed. */
  "container-output.closed": { readonly file: string; readonly bytes: number; readonly sha256: string };
  /** The oldest closed log was removed: the group's logs were too large. */
  "container-output.pruned": { readonly file: string; readonly bytes: number };
}

export type EventType = keyof EventData;

/** An event as a part of the host tells it. */
export type NewEvent<Type extends EventType = EventType> = {
  [Each in Type]: {
    readonly type: Each;
    /** Whose it is; absent for what belongs to no group or names others. */
    readonly group?: string | undefined;
    readonly session?: string | undefined;
    readonly turn?: string | undefined;
    readonly actor: Actor;
    readonly data: EventData[Each];
  };
}[Type];

/** `seq` counts from 1 without a gap, in the order of publishing; `at` is the host's clock, milliseconds since 1970. */
export type HostEvent<Type extends EventType = EventType> = NewEvent<Type> & {
  readonly seq: number;
  readonly at: number;
};

/**
 * Resolves when the event is stored and on record: what it announces may be done then. Rejects with an AppError when it could
 * not be written; that error is passing where trying again helps.
 */
export type Publish<Type extends EventType = EventType> = (event: NewEvent<Type>) => Promise<void>;
