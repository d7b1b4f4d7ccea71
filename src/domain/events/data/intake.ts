import type { Fingerprint } from "../../fingerprint.ts";

/** Events about incoming messages, webhook calls, chats, people, files and limits. */
export interface IntakeEventData {
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
    /** Ids of the agents that it is for, in a group with several. */
    readonly agents?: readonly string[] | undefined;
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
  /** Refuses a request; `rule` is the setting or the role that was missing. */
  "access.refused": {
    readonly rule: string;
    readonly channel: string;
    readonly chat: string;
    readonly command?: string | undefined;
  };
  /** `said` is the digest of `argument`, which may be words of somebody: the audit log keeps codes and digests. */
  "command.given": {
    readonly command: string;
    readonly argument?: string | undefined;
    readonly said?: Fingerprint | undefined;
    readonly id: string;
  };
  "intake.stopped": { readonly code: string; readonly reason: string };
  "intake.resumed": { readonly seconds: number };
  "admission.requested": { readonly channel: string; readonly chat: string; readonly code: string };
  /** Somebody who wrote directly has got a code. */
  "pairing.requested": { readonly channel: string; readonly chat: string };
  /** The direct chat of this person is let in; `id` as the channel has it. */
  "person.paired": { readonly channel: string; readonly chat: string; readonly id: string };
  /** Somebody's words are going to be erased: `digest` says who it is to whoever knows their id. */
  "person.erasing": { readonly digest: string; readonly ids: number; readonly groups: number };
  /** They are: how many of what; `files` in groups' folders and `left` elsewhere may hold some still. */
  "person.erased": {
    readonly digest: string;
    readonly erased: Readonly<Record<string, number>>;
    readonly files: number;
    readonly left: number;
  };
  "chat.left": { readonly channel: string; readonly chat: string };
  "group.added": {
    readonly name: string;
    readonly channel: string;
    readonly chat: string;
    readonly code?: string | undefined;
  };
  "group.removed": Readonly<Record<string, never>>;
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
}
