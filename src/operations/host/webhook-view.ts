import * as z from "zod";

import type { Group } from "../../domain/chats/group.ts";
import { type Webhook, webhookPath } from "../../domain/work/webhook.ts";

/** The parts that know the webhooks. */
export interface WebhookNeeds {
  readonly groups: { list(): readonly Pick<Group, "name">[] };
  readonly webhooks: {
    readonly list: () => readonly Webhook[];
    /** Address of the gateway; undefined when it does not listen. */
    readonly url: () => string | undefined;
    readonly sign: (secret: string, body: Uint8Array) => string;
  };
}

/** A webhook as it is configured, without its secret. */
export const webhookView = z.strictObject({
  name: z.string(),
  group: z.string(),
  hasGroup: z.boolean().describe("Calls are refused while there is no such group"),
  role: z.enum(["guest", "member"]),
  perMinute: z.number(),
  prompt: z.string().optional(),
  url: z.string().optional().describe("Where it can be called from this machine; absent: the gateway does not listen"),
});

export type WebhookView = z.infer<typeof webhookView>;

/** Webhooks by name. */
export function viewWebhooks({ webhooks, groups }: WebhookNeeds): WebhookView[] {
  const gateway = webhooks.url();
  const names = new Set(groups.list().map((group) => group.name));
  return webhooks.list().map(({ name: hook, group, prompt, role, perMinute }) => ({
    name: hook,
    group,
    hasGroup: names.has(group),
    role,
    perMinute,
    prompt,
    url: gateway === undefined ? undefined : `${gateway}${webhookPath(hook)}`,
  }));
}
