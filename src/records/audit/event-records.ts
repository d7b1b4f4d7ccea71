import type { EventType, NewEvent } from "../../domain/events/event.ts";

/** Record type of an event, with unchanged data; or a converter; undefined: not audited. */
type Audited<Type extends EventType> = string | undefined | ((event: NewEvent<Type>) => MadeRecord | undefined);

interface MadeRecord extends Partial<Pick<AuditEntry, "group" | "session" | "turn">> {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

function without<Data extends object, Key extends keyof Data>(data: Data, key: Key): Omit<Data, Key> {
  const { [key]: _, ...rest } = data;
  return rest;
}

/** A delivery's age when it came to this is of no use as evidence. */
const delivery = ({ data }: NewEvent<"delivery.accepted" | "delivery.confirmed" | "delivery.failed">) =>
  ({ type: "delivery", data: without(data, "sinceMs") }) as const;

/** Such as `K7XQ2M always`: what words behind a command are stays out, so that they can be erased. */
function isCode(argument: string): boolean {
  return /^[A-Z0-9]{4,16}(?: (?:once|session|day|always))?$/.test(argument);
}

/** Actions on tasks. */
const schedule =
  (action: string) =>
  ({ data }: { readonly data: object }) =>
    ({ type: "schedule", data: { action, ...data } }) as const;

/**
 * Audit records whose type is not that of their event with a hyphen (`tool.denied`, `tool-denied`), or whose data
 * differ. Outside programs read them: types and data are stable.
 */
const specialRecords = {
  "host.started": "host-start",
  "host.stopped": "host-stop",
  "config.applied": "config-loaded",
  "channel.changed": "channel-state",
  "operation.requested": "control-request",
  "operation.ended": "control-request",
  "watch.opened": ({ data }) => ({ type: "watch", data: { action: "opened", ...data } }) as const,
  "watch.ended": ({ data }) => ({ type: "watch", data: { action: "ended", ...data } }) as const,
  "message.received": "message-in",
  "webhook.received": "webhook-in",
  "heartbeat.begun": "heartbeat",
  "heartbeat.skipped": "heartbeat",
  "command.given": ({ data: { argument, ...rest } }) => ({
    type: "command" as const,
    data: { ...rest, ...(argument !== undefined && isCode(argument) && { argument }) },
  }),
  "admission.requested": "chat-request",
  "pairing.requested": "pairing-request",
  "person.erasing": "person-erased",
  "folder.adopted": ({ data }) => ({
    type: "folder-adopted" as const,
    group: data.group,
    data: without(data, "group"),
  }),
  "limit.reached": "limit-hit",
  "budget.warned": "limit-hit",
  "turn.started": "turn-start",
  "turn.ended": ({ data }) => ({ type: "turn-end" as const, data: without(data, "times") }),
  "model.requested": "model-request",
  "model.responded": "model-response",
  // What the calls used is on record.
  "cache.missed": undefined,
  "tool.called": "tool-call",
  "tool.returned": "tool-result",
  "memory.kept": undefined,
  "memory.failed": undefined,
  "schedule.made": schedule("made"),
  "schedule.changed": schedule("changed"),
  "schedule.paused": schedule("paused"),
  "schedule.resumed": schedule("resumed"),
  "schedule.removed": schedule("removed"),
  // The turn that follows is on record.
  "schedule.claimed": undefined,
  "schedule.missed": schedule("missed"),
  "schedule.ended": schedule("ended"),
  "job.started": "job-start",
  "job.ended": "job-end",
  "agent.started": "agent-start",
  "agent.ended": "agent-end",
  "agent.progressed": undefined,
  "agent.failed": undefined,
  "agent.overstepped": "mailbox-violation",
  "mailbox.violated": "mailbox-violation",
  "egress.judged": ({ data: { destination, ...rest } }) => ({
    type: "egress" as const,
    data: { ...destination, ...rest },
  }),
  "reply.redacted": "redaction",
  "secret.said": ({ data: { group, session, turn, count, found } }) => ({
    type: "redaction" as const,
    group,
    session,
    turn,
    data: { count, shown: true, found },
  }),
  "delivery.accepted": delivery,
  "delivery.confirmed": delivery,
  "delivery.failed": delivery,
  "mounts.judged": ({ data: { group, session, mounts } }) => ({
    type: "mount-verdict" as const,
    group,
    session,
    data: { mounts },
  }),
  "mount.refused": "mount-verdict",
  "secrets.appeared": "mount-verdict",
  "execution-point.changed": "execution-point",
  "execution-points.counted": ({ data: { omitted } }) =>
    omitted > 0 ? { type: "execution-point" as const, data: { omitted } } : undefined,
  "image.building": "image-build",
  "container.created": "container-create",
  "container.started": "container-start",
  "container.frozen": undefined,
  "container.thawed": undefined,
  "container.stopped": "container-stop",
  "container.removed": "container-orphan-removed",
  "container-output.closed": "container-output",
  "container-output.pruned": "log-pruned",
} as const satisfies { readonly [Type in EventType]?: Audited<Type> };

type RecordType<Recorded> = Recorded extends string
  ? Recorded
  : Recorded extends (...given: never[]) => infer Made
    ? NonNullable<Made> extends { readonly type: infer Type extends string }
      ? Type
      : never
    : never;

type Hyphened<Type> = Type extends `${infer Kind}.${infer Happened}` ? `${Kind}-${Happened}` : never;

/** Types of records. Intent comes before effect, the outcome after it; the last ones the log writes about itself. */
export type AuditType =
  | Hyphened<Exclude<EventType, keyof typeof specialRecords>>
  | RecordType<(typeof specialRecords)[keyof typeof specialRecords]>
  | "audit-broken"
  | "audit-gap"
  | "audit-recovered"
  | "store-older";

/**
 * A record to be written. Texts of people and models stay out: see `AuditLog.fingerprint`.
 */
export interface AuditEntry {
  readonly type: AuditType;
  readonly group?: string | undefined;
  readonly session?: string | undefined;
  readonly turn?: string | undefined;
  /** The author: see `Actor`. */
  readonly actor: string;
  /** Long strings, deep and large values are shortened: a record has at most 16 KiB. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Returns the record type, or what makes the record, for events of a type; undefined when not audited. */
export function auditedAs(type: EventType): Audited<EventType> {
  const records: { readonly [Type in EventType]?: unknown } = specialRecords;
  return Object.hasOwn(records, type) ? (records[type] as Audited<EventType>) : type.replace(".", "-");
}

/** Audit entry of an event; undefined when not audited. */
export function auditEntryOf(event: NewEvent): AuditEntry | undefined {
  const audited = auditedAs(event.type);
  if (audited === undefined) return undefined;
  const made = typeof audited === "string" ? { type: audited, data: event.data } : audited(event);
  const { group, session, turn, actor } = event;
  return made && { group, session, turn, actor, ...made, type: made.type as AuditType };
}
