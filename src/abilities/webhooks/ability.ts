import { defineAbility } from "../define-ability.ts";
import { webhookConfig } from "./config.ts";
import type { WebhookNeeds } from "./webhook-service.ts";

/** Lets other programs give agents something to do. */
export const webhooks = defineAbility<WebhookNeeds>()({
  name: "webhooks",
  config: webhookConfig,
  start: async (needs, settings) => {
    const { WebhookService } = await import("./webhook-service.ts");
    return new WebhookService(needs, settings);
  },
});
