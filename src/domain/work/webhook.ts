import type { AppError } from "../../lib/app-error.ts";
import type { Role } from "../people/role.ts";

/** An address at which another program may give a group's agent something to do, as it is configured. */
export interface Webhook {
  readonly name: string;
  readonly group: string;
  /** Shared secret for signatures. */
  readonly secret: string;
  /** Instructions for the agent; undefined: it decides from the payload. */
  readonly prompt: string | undefined;
  /** Role of its turns. */
  readonly role: Extract<Role, "guest" | "member">;
  /** Maximum calls per minute. */
  readonly perMinute: number;
}

/** Returns the gateway path of a webhook. */
export function webhookPath(name: string): string {
  return `/v1/hooks/${name}`;
}

/** A call of a webhook as it came. */
export interface WebhookCall {
  readonly hook: string;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly address: string;
}

/** Reason why a call is refused. */
export type WebhookRefusal = "signature" | "rate" | "waiting" | "intake" | "group" | "delivery" | "payload";

/** The answer to a call. `id` is of the work that it caused, the first time that it came. */
export type WebhookAnswer =
  | { readonly outcome: "stored"; readonly id: string; readonly duplicate: boolean }
  | {
      readonly outcome: "refused";
      readonly reason: WebhookRefusal;
      readonly error: AppError;
      readonly retryAfterS?: number;
    };
