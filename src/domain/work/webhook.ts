import type { Role } from "../people/role.ts";

/** An address at which another program may give a group's agent something to do, as it is configured. */
export interface Webhook {
  readonly name: string;
  readonly group: string;
  /** What the program signs with. */
  readonly secret: string;
  /** What the agent is to do with what was sent; undefined: it sees for itself. */
  readonly prompt: string | undefined;
  /** What its turns may do. */
  readonly role: Extract<Role, "guest" | "member">;
  /** So many calls in a minute. */
  readonly perMinute: number;
}

/** Where the gateway takes calls of the webhook of this name. */
export function webhookPath(name: string): string {
  return `/v1/hooks/${name}`;
}
