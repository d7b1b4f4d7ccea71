/** Everything that is put on record. Intent comes before effect, the outcome after it. */
export type AuditType =
  // The host itself.
  | "host-start"
  | "host-stop"
  | "home-copied"
  | "store-pruned"
  | "config-loaded"
  | "config-refused"
  | "settings-changed"
  | "engine-judged"
  | "channel-state"
  | "control-request"
  | "http-refused"
  // What people said and what became of it.
  | "message-in"
  | "command"
  | "webhook-in"
  | "webhook-refused"
  | "heartbeat"
  | "access-refused"
  | "pairing-request"
  | "person-paired"
  | "person-erased"
  | "turn-start"
  | "turn-end"
  | "delivery"
  | "limit-hit"
  | "intake-stopped"
  | "intake-resumed"
  | "chat-request"
  | "chat-left"
  | "group-added"
  | "group-removed"
  | "folder-adopted"
  | "instructions-changed"
  // What the model and the agent did.
  | "model-request"
  | "model-response"
  | "tool-call"
  | "tool-denied"
  | "origins-cleared"
  | "skills-settled"
  | "skill-refused"
  | "skill-loaded"
  | "skill-changed"
  | "memory-extracted"
  | "memory-noted"
  | "memory-stored"
  | "memory-forgotten"
  | "memory-cleaned"
  | "session-read"
  | "session-addressed"
  | "schedule"
  | "tool-result"
  | "approval-asked"
  | "approval-answered"
  | "approval-decided"
  | "approval-used"
  | "job-start"
  | "job-end"
  | "agent-start"
  | "agent-end"
  | "mailbox-violation"
  | "file-refused"
  // The way out, and what must not leave.
  | "egress"
  | "redaction"
  // The sandbox.
  | "mount-verdict"
  | "setuid-removed"
  | "execution-point"
  | "container-create"
  | "container-start"
  | "container-attested"
  | "container-refused"
  | "container-stop"
  | "container-adopted"
  | "container-orphan-removed"
  | "container-output"
  | "log-pruned"
  // The log about itself; written by the log alone.
  | "audit-gap"
  | "audit-recovered"
  | "audit-broken"
  | "store-older";

/** What a part of the host asks to be put on record. Texts of people and models stay out: see `AuditLog.fingerprint`. */
export interface AuditEntry {
  readonly type: AuditType;
  readonly group?: string | undefined;
  readonly session?: string | undefined;
  readonly turn?: string | undefined;
  /** Who did it: see `Actor`. */
  readonly actor: string;
  /** Long strings, deep and large values are shortened: a record has at most 16 KiB. */
  readonly data: Readonly<Record<string, unknown>>;
}
