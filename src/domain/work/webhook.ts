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
