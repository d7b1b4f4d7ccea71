import type { AuditRecord } from "../record.ts";

/** Sections of a report, in order. */
export const sectionNames = ["asked", "approvals", "ran", "refused", "changes", "host", "alarms", "other"] as const;

export type SectionName = (typeof sectionNames)[number];

/** Title of each section, and its text when empty. */
export const sectionTitles: Readonly<Record<SectionName, { readonly title: string; readonly none: string }>> = {
  asked: { title: "Who asked what", none: "Nobody has said anything." },
  approvals: { title: "Who approved what", none: "Nobody was asked to approve anything." },
  ran: { title: "What ran", none: "Nothing ran." },
  refused: { title: "What was refused or limited, and why", none: "Nothing was refused." },
  changes: {
    title: "Changes of settings, instructions, groups and members",
    none: "Nothing was changed.",
  },
  host: { title: "Starts and ends of the host, its engine and its channels", none: "Nothing of the kind." },
  alarms: { title: "Alarms", none: "There were none." },
  other: { title: "Records of other types", none: "There were none." },
};

type Place = SectionName | "counted";

/** `counted`: shown as figures, in the counts and under costs. */
const places: Readonly<Record<string, Place>> = {
  "message-in": "asked",
  command: "asked",
  "turn-start": "ran",
  "turn-end": "ran",
  "tool-call": "ran",
  "tool-result": "ran",
  "image-build": "ran",
  "image-built": "ran",
  "image-removed": "ran",
  "image-failed": "refused",
  "container-create": "ran",
  "container-start": "ran",
  "container-attested": "ran",
  "container-adopted": "ran",
  "container-stop": "ran",
  "container-orphan-removed": "ran",
  "container-output": "ran",
  "log-pruned": "ran",
  "tool-denied": "refused",
  "limit-hit": "refused",
  "http-refused": "refused",
  "file-refused": "refused",
  "container-refused": "refused",
  "chat-request": "refused",
  "intake-stopped": "refused",
  "intake-resumed": "refused",
  "config-loaded": "changes",
  "config-refused": "changes",
  "control-request": "changes",
  "instructions-changed": "changes",
  "group-added": "changes",
  "group-removed": "changes",
  "folder-adopted": "changes",
  "chat-left": "changes",
  "person-erased": "changes",
  "home-copied": "changes",
  "store-pruned": "changes",
  "host-start": "host",
  "host-stop": "host",
  "engine-judged": "host",
  "channel-state": "host",
  watch: "host",
  redaction: "alarms",
  "mailbox-violation": "alarms",
  "setuid-removed": "alarms",
  "execution-point": "alarms",
  "audit-gap": "alarms",
  "audit-recovered": "alarms",
  "audit-broken": "alarms",
  "store-older": "alarms",
  "model-request": "counted",
  "model-response": "counted",
};

/** Beginnings of types that other parts of the host write, or will. */
const families: readonly (readonly [RegExp, SectionName])[] = [
  [/^approval[.-]/, "approvals"],
  [/^(?:settings|person|people|group|instructions|config|pairing)[.-]/, "changes"],
];

/** Section of a record; `counted` when only figures include it. */
export function sectionOf({ type, data }: Pick<AuditRecord, "type" | "data">): Place {
  if (type === "egress") return data["verdict"] === "allowed" || data["verdict"] === "closed" ? "ran" : "refused";
  if (type === "mount-verdict") return placeOfMounts(data);
  if (type === "delivery") return isLost(data["outcome"]) ? "alarms" : "counted";
  if (Object.hasOwn(places, type)) return places[type] ?? "other";
  return families.find(([beginning]) => beginning.test(type))?.[1] ?? "other";
}

function placeOfMounts(data: AuditRecord["data"]): SectionName {
  if (data["secrets"] !== undefined) return "alarms";
  const { mounts } = data;
  return data["refused"] === undefined && Array.isArray(mounts) && mounts.every(isGranted) ? "ran" : "refused";
}

function isGranted(mount: unknown): boolean {
  return (mount as { verdict?: unknown } | null)?.verdict !== "denied";
}

function isLost(outcome: unknown): boolean {
  return outcome === "dead" || outcome === "expired" || outcome === "uncertain";
}
